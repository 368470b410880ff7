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
	// fullDisk is the room below which a database stops soon, in bytes.
	fullDisk = 256 << 20
	// scarceDisk is the room below which somebody should make more.
	scarceDisk = 2 << 30
	// expiresSoon is how long before its end a certificate is warned about.
	expiresSoon = 21 * 24 * time.Hour
	// maxProbe bounds what is read of a probe, in bytes.
	maxProbe = 1 << 20
)

// stateFolder looks at the folder, and at who may read the secrets in it.
func (e *examination) stateFolder(context.Context) {
	const check = "state folder"
	err := state.Examine(e.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.Database.URL != "":
		e.add(check, Skipped, "", "there is none at %s; the databases are elsewhere", e.StateDir)
		return
	case errors.Is(err, fs.ErrNotExist):
		e.add(check, Failed, "name the folder of the installation (--state-dir), or make one: rotaloom serve --state-dir "+e.StateDir,
			"there is none at %s", e.StateDir)
		return
	case err != nil:
		e.add(check, Failed, "use the program of the version that made the folder, or another folder", "%v", err)
		return
	}
	for _, name := range []string{"credentials.json", "key-encryption", "ready.json", filepath.Join("tls", "ca-key.pem"), filepath.Join("tls", "localhost-key.pem")} {
		path := filepath.Join(e.StateDir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			e.add(check, Failed, "chmod 600 "+path, "others than its owner may read %s (%s)", path, info.Mode().Perm())
			return
		}
	}
	e.add(check, OK, "", "%s", e.StateDir)
}

// disk looks at the room for databases and streams.
func (e *examination) disk(context.Context) {
	const check = "disk"
	var disk syscall.Statfs_t
	if err := syscall.Statfs(e.StateDir, &disk); err != nil {
		e.add(check, Skipped, "", "%s: %v", e.StateDir, err)
		return
	}
	free, all := int64(disk.Bavail)*int64(disk.Bsize), int64(disk.Blocks)*int64(disk.Bsize)
	found := fmt.Sprintf("%d MiB of %d MiB are free for %s", free>>20, all>>20, e.StateDir)
	const do = "make room on the disk, or move the folder while the server is stopped"
	switch {
	case free < fullDisk:
		e.add(check, Failed, do, "%s: nothing can be stored soon", found)
	case free < scarceDisk || free < all/20:
		e.add(check, Warning, do, "%s", found)
	default:
		e.add(check, OK, "", "%s", found)
	}
}

// server asks the server with the state folder for what everybody may read.
func (e *examination) server(ctx context.Context) {
	const check = "server"
	ready, err := state.ReadReady(e.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		e.add(check, Skipped, "", "none serves from %s", e.StateDir)
		return
	}
	const do = "look into the log of the process that serves, and at /readyz of its admin listener"
	if err != nil {
		e.add(check, Failed, do, "%v", err)
		return
	}
	roots, err := authorities(ready.CAFile)
	if err != nil {
		e.add(check, Failed, "start the server again, which makes its certificates", "%v", err)
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

// authorities is whom a client of the server trusts.
func authorities(caFile string) (*tls.Config, error) {
	data, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s holds no certificate", caFile)
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}

// certificates looks at when certificates end: those of the state folder, and those that
// were named.
func (e *examination) certificates(context.Context) {
	own, _ := filepath.Glob(filepath.Join(e.StateDir, "tls", "*.pem")) // The pattern is good.
	for _, path := range own {
		if !strings.HasSuffix(path, "-key.pem") {
			e.certificate(path, "start the server again, which makes a new one")
		}
	}
	for _, path := range e.Certificates {
		e.certificate(path, "renew it; the programs read the new file without a restart")
	}
}

func (e *examination) certificate(path, do string) {
	check := "certificate " + filepath.Base(path)
	data, err := os.ReadFile(path)
	if err != nil {
		e.add(check, Failed, "name a file that this user may read", "%v", err)
		return
	}
	block, _ := pem.Decode(data)
	if block == nil {
		e.add(check, Failed, "name a file of certificates in PEM", "%s holds no certificate", path)
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
		e.add(check, Failed, "set the clock of this machine, or renew it", "%s holds only from %s on", path, leaf.NotBefore.UTC().Format(time.RFC3339))
	case !now.Before(leaf.NotAfter):
		e.add(check, Failed, do, "%s has ended at %s", path, end)
	case now.Add(expiresSoon).After(leaf.NotAfter):
		e.add(check, Warning, do, "%s ends at %s", path, end)
	default:
		e.add(check, OK, "", "%s holds until %s", path, end)
	}
}

// timeZones looks at the time zone database that the program carries.
func (e *examination) timeZones(context.Context) {
	const check = "time zones"
	names := tzdb.Names()
	for _, name := range names {
		if _, err := tzdb.Load(name); err != nil {
			e.add(check, Failed, "install the program again: what it carries is damaged", "%s: %v", name, err)
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

// readiness is what a process says of itself.
type readiness struct {
	State     boot.State        `json:"state"`
	Failing   map[string]string `json:"failing"`
	Version   string            `json:"version"`
	TimeZones string            `json:"timeZones"`
}

// processes asks the processes that were named whether they can work.
func (e *examination) processes(ctx context.Context) {
	for _, base := range e.Probes {
		check := "process " + base
		if u, err := url.Parse(base); err == nil && u.Host != "" {
			check = "process " + u.Host
		}
		said, err := e.readiness(ctx, base)
		switch {
		case err != nil:
			e.add(check, Failed, "see whether the process runs, and with which --admin-address", "%v", err)
		case said.State != boot.StateReady:
			e.add(check, Failed, "see to what it names; docs/operations/alerts.md says how", "%s: %v", said.State, said.Failing)
		case said.TimeZones != tzdb.Version():
			e.add(check, Warning, "let all programs be of one version", "ready, version %s, with time zones %s where this program has %s",
				said.Version, said.TimeZones, tzdb.Version())
		default:
			e.add(check, OK, "", "ready, version %s", said.Version)
		}
	}
}

func (e *examination) readiness(ctx context.Context, base string) (said readiness, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/readyz", nil)
	if err != nil {
		return said, err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return said, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxProbe))
	if err == nil {
		err = json.Unmarshal(data, &said)
	}
	if err != nil {
		return said, fmt.Errorf("%s does not say whether it is ready: %w", base, err)
	}
	return said, nil
}
