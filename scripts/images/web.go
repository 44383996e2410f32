// Web is a workload to try a cluster with.
//
//	web              serves its host name on port 8080
//	web lookup NAME  prints the addresses of a name, by the resolver of the pod
//	web get URL      prints what a URL answers
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	switch {
	case len(arguments) == 0:
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		return http.ListenAndServe(":8080", http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(answer, name)
		}))
	case len(arguments) == 2 && arguments[0] == "lookup":
		addresses, err := net.DefaultResolver.LookupHost(ctx, arguments[1])
		if err != nil {
			return err
		}
		fmt.Println(strings.Join(addresses, "\n"))
		return nil
	case len(arguments) == 2 && arguments[0] == "get":
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, arguments[1], nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(os.Stdout, answer.Body)
		return err
	default:
		return fmt.Errorf("usage: web [lookup NAME | get URL]")
	}
}
