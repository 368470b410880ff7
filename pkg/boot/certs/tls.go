// Package certs provides the certificates of a program: from files that may change, or from a local
// authority.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// TLSFiles are the PEM files of a certificate, its key, and the authorities of the other side's
// certificate.
type TLSFiles struct {
	Cert string `name:"tls-cert" type:"path" help:"File of the certificate (PEM)."`
	Key  string `name:"tls-key" type:"path" help:"File of the certificate's private key (PEM)."`
	CA   string `name:"tls-ca" type:"path" help:"File of the authorities that must have signed the certificates of others (PEM)."`
}

// checkEvery is the shortest time between two checks of the files.
const checkEvery = 10 * time.Second

// Certificates holds the contents of TLSFiles, and reads them again when they change. It checks the
// files during handshakes, so it needs no goroutine; existing connections keep their certificates.
// It is safe for concurrent use.
type Certificates struct {
	files TLSFiles
	log   *slog.Logger
	clock clock.Clock

	mu      sync.Mutex
	current *material
	stamp   stamp
	checked time.Time
}

type material struct {
	cert  *tls.Certificate
	roots *x509.CertPool
}

// stamp identifies a version of the files.
type stamp struct {
	cert, key, ca fileStamp
}

type fileStamp struct {
	modified time.Time
	size     int64
}

// Load reads the files. A missing or invalid file is an error here; later, the old contents stay in
// use.
func Load(files TLSFiles, log *slog.Logger, clk clock.Clock) (*Certificates, error) {
	c := &Certificates{files: files, log: log, clock: clk, checked: clk.Now()}
	var err error
	if c.stamp, err = files.stamp(); err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if c.current, err = files.read(); err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	return c, nil
}

// ServerConfig returns the configuration of a server that requires client certificates (mTLS).
func (c *Certificates) ServerConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		ClientAuth: tls.RequireAndVerifyClientCert,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			m := c.get()
			return &tls.Config{
				MinVersion:   tls.VersionTLS13,
				ClientAuth:   tls.RequireAndVerifyClientCert,
				ClientCAs:    m.roots,
				Certificates: []tls.Certificate{*m.cert},
				NextProtos:   []string{"h2"},
			}, nil
		},
	}
}

// suites are the TLS 1.2 suites with authenticated encryption (AEAD) and forward secrecy. They
// exclude the suites with CBC and SHA-1 that Go still offers. All suites of TLS 1.3 are good, and
// are not configurable.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// HTTPSConfig returns the configuration of a public server.
func (c *Certificates) HTTPSConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		CipherSuites:   suites,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get().cert, nil },
	}
}

// ClientConfig returns the configuration for one connection of a client with its own certificate;
// it holds the current contents of the files. The server's certificate must have the name that the
// client connects to.
func (c *Certificates) ClientConfig() *tls.Config {
	m := c.get()
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{*m.cert},
		RootCAs:      m.roots,
	}
}

// get returns the current contents. It checks the files if the last check was checkEvery ago.
func (c *Certificates) get() *material {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.clock.Now(); now.Sub(c.checked) >= checkEvery {
		c.checked = now
		if err := c.reload(); err != nil {
			c.log.Error("the changed certificates cannot be used; the old ones stay in use", "error", err)
		}
	}
	return c.current
}

func (c *Certificates) reload() error {
	now, err := c.files.stamp()
	if err != nil || now == c.stamp {
		return err
	}
	m, err := c.files.read()
	if err != nil {
		return err
	}
	c.current, c.stamp = m, now
	c.log.Info("certificates were read again", "cert", c.files.Cert)
	return nil
}

func (f TLSFiles) read() (*material, error) {
	cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, err
	}
	m := &material{cert: &cert}
	if f.CA == "" {
		return m, nil
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, err
	}
	m.roots = x509.NewCertPool()
	if !m.roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", f.CA)
	}
	return m, nil
}

func (f TLSFiles) stamp() (s stamp, err error) {
	if s.cert, err = fileStampAt(f.Cert); err != nil {
		return s, err
	}
	if s.key, err = fileStampAt(f.Key); err != nil {
		return s, err
	}
	if f.CA != "" {
		s.ca, err = fileStampAt(f.CA)
	}
	return s, err
}

func fileStampAt(path string) (fileStamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}, err
	}
	return fileStamp{info.ModTime(), info.Size()}, nil
}
