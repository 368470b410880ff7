package natsconn

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// errURL does not contain the URL, which may hold a password.
var errURL = errors.New("bus: the NATS URL cannot be read: it must be tls://user:password@host:4222, or several of them, separated by commas")

// checkSecure rejects servers on other machines without TLS, where anyone on the network could read
// and forge events, or without a user: a server that accepts connections without a user lets anyone
// publish.
func (c Config) checkSecure() error {
	if c.AllowInsecure || c.URL == "" {
		return nil
	}
	for _, text := range strings.Split(c.URL.Reveal(), ",") {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			return errURL
		}
		if onThisMachine(u.Hostname()) {
			continue
		}
		if u.Scheme != "tls" && u.Scheme != "wss" {
			return fmt.Errorf("bus: the connection to NATS at %s has no TLS: write tls:// instead of %s://, or set --nats-allow-insecure", u.Host, u.Scheme)
		}
		if u.User == nil && c.Credentials == "" && c.Cert == "" {
			return fmt.Errorf("bus: the connection to NATS at %s has no user: put one in the URL, or set --nats-credentials, --nats-cert or --nats-allow-insecure", u.Host)
		}
	}
	return nil
}

// onThisMachine reports whether a host is a loopback address.
func onThisMachine(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
