// Kube-proxy runs the real one (kube-proxy.real, beside it) with a configuration that leaves the kernel's connection table
// alone: its size belongs to the machine outside of a real host, and kube-proxy ends when it may not set it.
package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

const (
	given = "--config="
	own   = "/tmp/config.conf"
)

func main() {
	arguments := append([]string{}, os.Args...)
	for i, argument := range arguments {
		path, found := strings.CutPrefix(argument, given)
		if !found {
			continue
		}
		config, err := os.ReadFile(path)
		if err != nil {
			fail(err)
		}
		changed := strings.Replace(string(config), "maxPerCore: null", "maxPerCore: 0", 1)
		if err := os.WriteFile(own, []byte(changed), 0o600); err != nil {
			fail(err)
		}
		arguments[i] = given + own
	}
	fail(syscall.Exec("/usr/local/bin/kube-proxy.real", arguments, os.Environ()))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "kube-proxy:", err)
	os.Exit(1)
}
