package standalone

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
)

// Certs is the command that creates the certificates of a test installation of separate processes, with a CA of
// their own.
type Certs struct {
	boot.Output
	Dir  string   `arg:"" type:"path" help:"Folder of the certificates. Valid existing ones are kept."`
	Host []string `help:"Additional host names and addresses of the processes."`
}

// issuedCertificates is the JSON output.
type issuedCertificates struct {
	// CA is the file of the authority, which clients of the HTTP API trust.
	CA       string         `json:"ca"`
	Programs []programFlags `json:"programs"`
}

// programFlags are the flags of a program for its certificates.
type programFlags struct {
	Program string `json:"program"`
	Flags   string `json:"flags"`
}

// Do creates the certificates, and prints the matching flags.
func (c *Certs) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	ca, err := certs.OpenLocalCA(c.Dir, clock.System{}.Now())
	if err != nil {
		return err
	}
	issued := issuedCertificates{CA: filepath.Join(c.Dir, "ca.pem")}
	for _, entry := range inventory.Services() {
		clients := findCallers(entry.Name)
		files, err := ca.Issue(entry.Name, c.Host...)
		if err != nil {
			return err
		}
		issued.Programs = append(issued.Programs, programFlags{
			entry.Name,
			fmt.Sprintf("%s --rpc-clients %s%s", tlsFlags(files), strings.Join(clients, ","), listFlags(entry, clients)),
		})
	}
	internal, err := ca.Issue("gateway", c.Host...)
	if err != nil {
		return err
	}
	https, err := ca.Issue("localhost", c.Host...)
	if err != nil {
		return err
	}
	issued.Programs = append(issued.Programs, programFlags{
		"gateway",
		fmt.Sprintf("%s --https-tls-cert %s --https-tls-key %s", tlsFlags(internal), https.Cert, https.Key),
	})
	return c.Print(out, issued, func(table io.Writer) {
		for _, program := range issued.Programs {
			fmt.Fprintf(table, "%s\t%s\n", program.Program, program.Flags)
		}
		fmt.Fprintf(table, "Clients of the HTTP API trust %s. The propagator has no callers and needs no certificate.\n", issued.CA)
	})
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
