package pg

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
)

// CheckSecure rejects a configuration that lets others on the network read the traffic with the
// database, or impersonate it. Connections to other machines must verify the server's certificate
// and name (sslmode=verify-full), for each of several hosts.
func CheckSecure(cc *pgx.ConnConfig) error {
	if err := checkHost(cc.Host, cc.TLSConfig); err != nil {
		return err
	}
	for _, other := range cc.Fallbacks {
		if err := checkHost(other.Host, other.TLSConfig); err != nil {
			return err
		}
	}
	return nil
}

func checkHost(host string, config *tls.Config) error {
	if onThisMachine(host) || config != nil && !config.InsecureSkipVerify && config.ServerName != "" {
		return nil
	}
	return fmt.Errorf("pg: the connection to %s is not secure: add sslmode=verify-full to the database URL, "+
		"with sslrootcert if this machine does not trust its authority, or set --database-allow-insecure", host)
}

// onThisMachine reports whether a host is a Unix socket or a loopback address.
func onThisMachine(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
