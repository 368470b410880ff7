// Package smtptest is a mail server for tests: it listens on TCP, speaks TLS, and stores the
// e-mails that it accepts.
package smtptest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// Mail is an accepted e-mail.
type Mail struct {
	From, To string
	Header   mail.Header
	Body     string
}

// Server is a mail server of one test.
type Server struct {
	Host   string
	Port   int
	CAFile string

	username, password string

	mu     sync.Mutex
	mails  []Mail
	refuse func(to string) error
}

// Refuse rejects recipients if the function returns an error for them; it sends an *smtp.SMTPError
// unchanged.
func (s *Server) Refuse(refuse func(to string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

// Mails returns the e-mails accepted so far.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.mails...)
}

// Start starts a server on the loopback, which ends with the test. With implicit TLS, it speaks TLS
// from the first byte on; otherwise it offers STARTTLS. With a username, clients must log in.
func Start(t testing.TB, implicit bool, username, password string) *Server {
	t.Helper()
	certificate, ca := certify(t)
	file := filepath.Join(t.TempDir(), "smtp-ca.pem")
	require.NoError(t, os.WriteFile(file, ca, 0o600))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Server{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, CAFile: file, username: username, password: password}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }))
	server.Domain, server.ReadTimeout, server.WriteTimeout = "localhost", 30*time.Second, 30*time.Second
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.ErrorLog = log.New(io.Discard, "", 0) // Errors of killed clients are irrelevant.
	if implicit {
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // It returns when the server is closed.
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return s
}

// certify creates a self-signed certificate for the loopback, and returns it also as the authority.
func certify(t testing.TB) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail server of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// session is one connection.
type session struct {
	server   *Server
	from, to string
	known    bool
}

// AuthMechanisms returns the ways to authenticate.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth authenticates a client.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != s.server.username || password != s.server.password {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "Wrong username or password"}
		}
		s.known = true
		return nil
	}), nil
}

// Mail begins an e-mail.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.username != "" && !s.known {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

// Rcpt sets the recipient of an e-mail.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mu.Lock()
	refuse := s.server.refuse
	s.server.mu.Unlock()
	if refuse != nil {
		if err := refuse(to); err != nil {
			return err
		}
	}
	s.to = to
	return nil
}

// Data stores an e-mail.
func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(message.Body)
	if err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.mails = append(s.server.mails, Mail{From: s.from, To: s.to, Header: message.Header, Body: string(body)})
	return nil
}

// Reset drops an unfinished e-mail.
func (s *session) Reset() { s.from, s.to = "", "" }

// Logout ends a connection.
func (s *session) Logout() error { return nil }
