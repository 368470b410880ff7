package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	caLife   = 10 * 365 * 24 * time.Hour
	leafLife = 365 * 24 * time.Hour
	// renewBefore is how long before its end a certificate is renewed.
	renewBefore = 30 * 24 * time.Hour
	// clockSkew is how far the clocks of other machines may be behind.
	clockSkew = time.Hour
)

// LocalCA is a certificate authority in a folder, for machines without another one: the first start
// of a standalone server, and tests.
type LocalCA struct {
	dir string
	now time.Time
	ca  tls.Certificate
}

// OpenLocalCA opens the authority in dir, or creates one. Only the owner of its files can read
// them.
func OpenLocalCA(dir string, now time.Time) (*LocalCA, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("local authority: %w", err)
	}
	l := &LocalCA{dir: dir, now: now}
	ca, err := l.load("ca")
	if err == nil && now.Before(ca.Leaf.NotAfter.Add(-renewBefore)) {
		l.ca = ca
		return l, nil
	}
	if _, missing := os.Stat(l.path("ca.pem")); err != nil && !errors.Is(missing, fs.ErrNotExist) {
		// Replacing it would lock out every client that trusts it.
		return nil, fmt.Errorf("local authority: %w", err)
	}
	if l.ca, err = l.make("ca", nil); err != nil {
		return nil, fmt.Errorf("local authority: %w", err)
	}
	return l, nil
}

// Issue returns the files of a certificate for servers and clients with a name. It reuses a valid
// certificate, or creates a new one. The certificate is also valid for localhost, the loopback
// addresses and the further names and addresses.
func (l *LocalCA) Issue(name string, further ...string) (TLSFiles, error) {
	if name == "ca" || name != filepath.Base(name) {
		return TLSFiles{}, fmt.Errorf("%q cannot be the name of a certificate", name)
	}
	if cert, err := l.load(name); err != nil || !l.isUsable(cert.Leaf, further) {
		if _, err := l.make(name, further); err != nil {
			return TLSFiles{}, fmt.Errorf("certificate of %s: %w", name, err)
		}
	}
	return TLSFiles{Cert: l.path(name + ".pem"), Key: l.path(name + "-key.pem"), CA: l.path("ca.pem")}, nil
}

// isUsable reports whether a certificate comes from this authority, covers all names, and does not
// end soon.
func (l *LocalCA) isUsable(leaf *x509.Certificate, names []string) bool {
	for _, name := range names {
		if leaf.VerifyHostname(name) != nil {
			return false
		}
	}
	return leaf.CheckSignatureFrom(l.ca.Leaf) == nil && l.now.Before(leaf.NotAfter.Add(-renewBefore))
}

// make creates a key and a certificate: the authority's own, which is self-signed, or one that the
// authority signs.
func (l *LocalCA) make(name string, further []string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, err
	}
	template := l.template(name, further)
	template.SerialNumber = serial
	parent, signer := template, any(key)
	if name != "ca" {
		parent, signer = l.ca.Leaf, l.ca.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	if err := l.write(name+"-key.pem", "PRIVATE KEY", keyDER); err != nil {
		return tls.Certificate{}, err
	}
	if err := l.write(name+".pem", "CERTIFICATE", der); err != nil {
		return tls.Certificate{}, err
	}
	return l.load(name)
}

func (l *LocalCA) template(name string, further []string) *x509.Certificate {
	template := &x509.Certificate{
		NotBefore:             l.now.Add(-clockSkew),
		BasicConstraintsValid: true,
	}
	if name == "ca" {
		template.Subject = pkix.Name{CommonName: "Rotaloom local authority"}
		template.NotAfter = l.now.Add(caLife)
		template.IsCA = true
		template.MaxPathLenZero = true
		template.KeyUsage = x509.KeyUsageCertSign
		return template
	}
	template.Subject = pkix.Name{CommonName: name}
	template.NotAfter = l.now.Add(leafLife)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames = []string{name, "localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	for _, other := range further {
		if ip := net.ParseIP(other); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, other)
		}
	}
	return template
}

func (l *LocalCA) load(name string) (tls.Certificate, error) {
	return tls.LoadX509KeyPair(l.path(name+".pem"), l.path(name+"-key.pem"))
}

// write replaces a file atomically, so that readers never see half of it.
func (l *LocalCA) write(file, kind string, der []byte) error {
	temporary, err := os.CreateTemp(l.dir, file+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if err := pem.Encode(temporary, &pem.Block{Type: kind, Bytes: der}); err != nil {
		return errors.Join(err, temporary.Close())
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), l.path(file))
}

func (l *LocalCA) path(file string) string { return filepath.Join(l.dir, file) }
