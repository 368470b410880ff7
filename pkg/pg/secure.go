package pg

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
)

// CheckSecure refuses a configuration by which somebody on the way could read what is
// said to the database, or respond in its place: beyond this machine it must verify the
// server's certificate and name (sslmode=verify-full), for each of several hosts.
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
	return fmt.Errorf("pg: the connection to %s is not safe from others on the network: add sslmode=verify-full to the database URL, "+
		"with sslrootcert when its authority is not one of the machine's, or say --database-allow-insecure", host)
}

// onThisMachine reports whether a host is a unix socket or a loopback address.
func onThisMachine(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
