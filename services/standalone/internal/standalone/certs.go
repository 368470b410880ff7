package standalone

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
)

// Certs is the command that creates the certificates of a test installation of separate processes, with a CA of
// their own.
type Certs struct {
	Dir  string   `arg:"" type:"path" help:"Folder of the certificates. Valid existing ones are kept."`
	Host []string `help:"Additional host names and addresses of the processes."`
}

// Do creates the certificates, and prints the matching flags.
func (c *Certs) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	ca, err := certs.OpenLocalCA(c.Dir, clock.System{}.Now())
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	for _, entry := range inventory.Services() {
		clients := findCallers(entry.Name)
		files, err := ca.Issue(entry.Name, c.Host...)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s --rpc-clients %s%s\n", entry.Name, tlsFlags(files),
			strings.Join(clients, ","), listFlags(entry, clients))
	}
	internal, err := ca.Issue("gateway", c.Host...)
	if err != nil {
		return err
	}
	https, err := ca.Issue("localhost", c.Host...)
	if err != nil {
		return err
	}
	fmt.Fprintf(table, "gateway\t%s --https-tls-cert %s --https-tls-key %s\n", tlsFlags(internal), https.Cert, https.Key)
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Clients of the HTTP API trust %s. The propagator has no callers and needs no certificate.\n",
		filepath.Join(c.Dir, "ca.pem"))
	return err
}

func tlsFlags(files certs.TLSFiles) string {
	return fmt.Sprintf("--tls-cert %s --tls-key %s --tls-ca %s", files.Cert, files.Key, files.CA)
}

// findCallers returns the callers of a service, beginning with the edge. docs/separate-processes.md contains the
// same table.
func findCallers(service string) []string {
	clients := []string{"gateway"}
	for _, s := range inventory.Services() {
		if slices.Contains(s.Calls, service) {
			clients = append(clients, s.Name)
		}
	}
	return clients
}

// listFlags returns the flags that declare which clients are services and which are edges.
func listFlags(service inventory.Service, clients []string) string {
	flags := ""
	if services := clients[1:]; len(services) > 0 {
		flags += " --rpc-services " + strings.Join(services, ",")
	}
	if service.ServesEdges {
		flags += " --rpc-edges gateway"
	}
	return flags
}
