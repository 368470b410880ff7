package standalone

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// Certs is the command that makes the certificates of a test installation of separate
// processes, with an authority of their own.
type Certs struct {
	Dir  string   `arg:"" type:"path" help:"Folder of the certificates; good ones that are there stay."`
	Host []string `help:"Further names and addresses under which the processes are reached."`
}

// callers says who calls a service, the edge first. docs/separate-processes.md has the
// same table.
var callers = []struct {
	service string
	clients []string
}{
	{"auth", []string{"gateway", "commons", "timekeeping", "scheduling", "platform"}},
	{"commons", []string{"gateway", "timekeeping", "scheduling", "platform"}},
	{"timekeeping", []string{"gateway", "platform"}},
	{"scheduling", []string{"gateway", "timekeeping", "platform"}},
	{"platform", []string{"gateway"}},
}

// Do makes the certificates, and prints the flags that go with them.
func (c *Certs) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	ca, err := certs.OpenLocalCA(c.Dir, clock.System{}.Now())
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	for _, of := range callers {
		files, err := ca.Issue(of.service, c.Host...)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s --rpc-clients %s%s\n", of.service, tlsFlags(files),
			strings.Join(of.clients, ","), listFlags(of.service, of.clients))
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
	_, err = fmt.Fprintf(out, "Clients of the HTTP API trust %s. The propagator is called by nobody and needs no certificate.\n",
		filepath.Join(c.Dir, "ca.pem"))
	return err
}

func tlsFlags(files certs.TLSFiles) string {
	return fmt.Sprintf("--tls-cert %s --tls-key %s --tls-ca %s", files.Cert, files.Key, files.CA)
}

// listFlags are the flags that say which of the clients are services, and which edges.
func listFlags(service string, clients []string) string {
	flags := ""
	if services := clients[1:]; len(services) > 0 {
		flags += " --rpc-services " + strings.Join(services, ",")
	}
	if service == "auth" || service == "platform" { // Some of their operations are there for edges.
		flags += " --rpc-edges gateway"
	}
	return flags
}
