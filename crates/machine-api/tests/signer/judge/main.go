// Tells what the controller manager sees in certificate requests: it decodes and parses them as
// k8s.io/kubernetes/pkg/apis/certificates.ParseCSR does, with the standard library alone.
//
//	judge                                     reads requests from stdin and writes a line for each to stdout; before each are its bytes as a
//	                                          big-endian number of 32 bits
//	judge make COMMON_NAME ORGANIZATION NAME…  writes a request as kubelets make it
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
)

const blockType = "CERTIFICATE REQUEST"

func main() {
	var err error
	if len(os.Args) > 3 && os.Args[1] == "make" {
		err = create(os.Args[2], os.Args[3], os.Args[4:])
	} else {
		err = judge(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(stdin io.Reader, stdout io.Writer) error {
	in, out := bufio.NewReaderSize(stdin, 1<<16), bufio.NewWriterSize(stdout, 1<<16)
	var text []byte
	for {
		var length uint32
		if err := binary.Read(in, binary.BigEndian, &length); err == io.EOF {
			return out.Flush()
		} else if err != nil {
			return err
		}
		if cap(text) < int(length) {
			text = make([]byte, length)
		}
		text = text[:length]
		if _, err := io.ReadFull(in, text); err != nil {
			return err
		}
		seen := see(text)
		if _, err := out.WriteString(seen + "\n"); err != nil {
			return err
		}
	}
}

// see returns everything that would be signed.
func see(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != blockType {
		return "refused: no block"
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "refused: " + strconv.Quote(err.Error())
	}
	subject := request.Subject
	addresses := make([]string, 0, len(request.IPAddresses))
	for _, address := range request.IPAddresses {
		addresses = append(addresses, address.String())
	}
	uris := make([]string, 0, len(request.URIs))
	for _, uri := range request.URIs {
		uris = append(uris, uri.String())
	}
	extensions := make([]string, 0, len(request.Extensions))
	for _, extension := range request.Extensions {
		extensions = append(extensions, extension.Id.String())
	}
	return fmt.Sprintf("%q %s %d %s %s %s %s %s", subject.CommonName, list(subject.Organization), len(subject.Names),
		list(request.DNSNames), list(addresses), list(uris), list(request.EmailAddresses), list(extensions))
}

func list(texts []string) string {
	quoted := make([]string, 0, len(texts))
	for _, text := range texts {
		quoted = append(quoted, strconv.Quote(text))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// create writes a request as k8s.io/client-go/util/certificate/csr does.
func create(commonName, organization string, names []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := x509.CertificateRequest{Subject: pkix.Name{Organization: []string{organization}, CommonName: commonName}}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
	if err != nil {
		return err
	}
	return pem.Encode(os.Stdout, &pem.Block{Type: blockType, Bytes: der})
}
