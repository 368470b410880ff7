package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

const (
	// fullDisk is the free space in bytes below which a database will stop soon.
	fullDisk = 256 << 20
	// scarceDisk is the free space in bytes below which a warning is given.
	scarceDisk = 2 << 30
	// expiresSoon is the remaining life of a certificate below which a warning is given.
	expiresSoon = 21 * 24 * time.Hour
	// maxProbe is the largest response of a probe, in bytes.
	maxProbe = 1 << 20
)

// stateFolder checks the folder, and the permissions of the secrets in it.
func (e *examination) stateFolder(context.Context) {
	const check = "state folder"
	err := state.Examine(e.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.Database.URL != "":
		e.add(check, Skipped, "", "%s does not exist; the databases are elsewhere", e.StateDir)
		return
	case errors.Is(err, fs.ErrNotExist):
		e.add(check, Failed, "name the folder of the installation (--state-dir), or create one: rotaloom serve --state-dir "+e.StateDir,
			"%s does not exist", e.StateDir)
		return
	case err != nil:
		e.add(check, Failed, permissionAdvice(err, "use the program version that created the folder, or another folder"), "%v", err)
		return
	}
	for _, name := range []string{"credentials.json", "demo.json", "key-encryption", "ready.json", filepath.Join("tls", "ca-key.pem"), filepath.Join("tls", "localhost-key.pem")} {
		path := filepath.Join(e.StateDir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			e.add(check, Failed, "chmod 600 "+path, "users other than the owner can read %s (%s)", path, info.Mode().Perm())
			return
		}
	}
	e.add(check, OK, "", "%s", e.StateDir)
}

// disk checks the free space for databases and streams.
func (e *examination) disk(context.Context) {
	const check = "disk"
	var disk syscall.Statfs_t
	if err := syscall.Statfs(e.StateDir, &disk); err != nil {
		e.add(check, Skipped, "", "%s: %v", e.StateDir, err)
		return
	}
	free, all := int64(disk.Bavail)*int64(disk.Bsize), int64(disk.Blocks)*int64(disk.Bsize)
	found := fmt.Sprintf("%d MiB of %d MiB are free for %s", free>>20, all>>20, e.StateDir)
	const do = "free space on the disk, or move the folder while the server is stopped"
	switch {
	case free < fullDisk:
		e.add(check, Failed, do, "%s: writes will fail soon", found)
	case free < scarceDisk || free < all/20:
		e.add(check, Warning, do, "%s", found)
	default:
		e.add(check, OK, "", "%s", found)
	}
}

// server calls a public path of the server with the state folder.
func (e *examination) server(ctx context.Context) {
	const check = "server"
	ready, err := state.ReadReady(e.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		e.add(check, Skipped, "", "no server runs with %s", e.StateDir)
		return
	}
	const do = "look at the log of the serving process, and at /readyz of its admin listener"
	if err != nil {
		e.add(check, Failed, permissionAdvice(err, do), "%v", err)
		return
	}
	roots, err := readCA(ready.CAFile)
	if err != nil {
		e.add(check, Failed, permissionAdvice(err, "restart the server, which creates its certificates"), "%v", err)
		return
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = roots
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ready.BaseURL+"/api/authentication/.well-known/jwks.json", nil)
	if err != nil {
		e.add(check, Failed, do, "%v", err)
		return
	}
	response, err := (&http.Client{Transport: transport, Timeout: checkTimeout}).Do(request)
	if err != nil {
		e.add(check, Failed, do, "%v", err)
		return
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		e.add(check, Failed, do, "%s returns %s", ready.BaseURL, response.Status)
		return
	}
	e.add(check, OK, "", "%s serves", ready.BaseURL)
}

// readCA returns the TLS settings of a client of the server.
func readCA(caFile string) (*tls.Config, error) {
	data, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s contains no certificate", caFile)
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}

// certificates checks the expiry of the certificates in the state folder and of the configured ones.
func (e *examination) certificates(context.Context) {
	local, _ := filepath.Glob(filepath.Join(e.StateDir, "tls", "*.pem")) // The pattern is valid.
	for _, path := range local {
		if !strings.HasSuffix(path, "-key.pem") {
			e.certificate(path, "restart the server, which creates a new one")
		}
	}
	for _, path := range e.Certificates {
		e.certificate(path, "renew it; the programs load the new file without a restart")
	}
}

func (e *examination) certificate(path, do string) {
	check := "certificate " + filepath.Base(path)
	data, err := os.ReadFile(path)
	if err != nil {
		e.add(check, Failed, permissionAdvice(err, "name a file that exists"), "%v", err)
		return
	}
	block, _ := pem.Decode(data)
	if block == nil {
		e.add(check, Failed, "name a file of certificates in PEM", "%s contains no certificate", path)
		return
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		e.add(check, Failed, "name a file of certificates in PEM", "%s: %v", path, err)
		return
	}
	end, now := leaf.NotAfter.UTC().Format(time.RFC3339), e.clock.Now()
	switch {
	case now.Before(leaf.NotBefore):
		e.add(check, Failed, "set the clock of this machine, or renew it", "%s is not valid before %s", path, leaf.NotBefore.UTC().Format(time.RFC3339))
	case !now.Before(leaf.NotAfter):
		e.add(check, Failed, do, "%s expired at %s", path, end)
	case now.Add(expiresSoon).After(leaf.NotAfter):
		e.add(check, Warning, do, "%s expires at %s", path, end)
	default:
		e.add(check, OK, "", "%s is valid until %s", path, end)
	}
}

// timeZones checks the program's time zone database.
func (e *examination) timeZones(context.Context) {
	const check = "time zones"
	names := tzdb.Names()
	for _, name := range names {
		if _, err := tzdb.Load(name); err != nil {
			e.add(check, Failed, "install the program again: its time zone database is damaged", "%s: %v", name, err)
			return
		}
	}
	found := fmt.Sprintf("release %s, %d zones", tzdb.Version(), len(names))
	year, err := strconv.Atoi(tzdb.Version()[:4])
	if err == nil && e.clock.Now().Year() > year+1 {
		e.add(check, Warning, "update the program: rules of time zones have changed since", "%s", found)
		return
	}
	e.add(check, OK, "", "%s", found)
}

// readiness is the response of a process's readiness probe.
type readiness struct {
	State     boot.State        `json:"state"`
	Failing   map[string]string `json:"failing"`
	Version   string            `json:"version"`
	TimeZones string            `json:"timeZones"`
}

// processes checks the readiness of the configured processes.
func (e *examination) processes(ctx context.Context) {
	for _, base := range e.Probes {
		check := "process " + base
		if u, err := url.Parse(base); err == nil && u.Host != "" {
			check = "process " + u.Host
		}
		reply, err := e.readiness(ctx, base)
		switch {
		case err != nil:
			e.add(check, Failed, "check that the process runs, and its --admin-address", "%v", err)
		case reply.State != boot.StateReady:
			e.add(check, Failed, "fix the failing checks that it names; see docs/operations/alerts.md", "%s: %v", reply.State, reply.Failing)
		case reply.TimeZones != tzdb.Version():
			e.add(check, Warning, "run the same version of all programs", "ready, version %s, with time zones %s; this program has %s",
				reply.Version, reply.TimeZones, tzdb.Version())
		default:
			e.add(check, OK, "", "ready, version %s", reply.Version)
		}
	}
}

func (e *examination) readiness(ctx context.Context, base string) (reply readiness, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/readyz", nil)
	if err != nil {
		return reply, err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return reply, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxProbe))
	if err == nil {
		err = json.Unmarshal(data, &reply)
	}
	if err != nil {
		return reply, fmt.Errorf("%s returned no readiness: %w", base, err)
	}
	return reply, nil
}
