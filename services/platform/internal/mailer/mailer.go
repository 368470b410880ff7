// Package mailer sends e-mails by SMTP.
package mailer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/rotaloom/rotaloom/pkg/emailaddress"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
)

// Config configures the mail server. Without a host, e-mails wait for one as long as deliveries are retried.
type Config struct {
	Host     string     `help:"Mail server. Without one, e-mails wait, and fail at the end of their retry time."`
	Port     int        `default:"587" help:"Port of the mail server."`
	TLS      string     `name:"tls" default:"starttls" enum:"starttls,implicit,none" help:"Encryption of the connection to the mail server: starttls, implicit, or none, which needs a server on this machine."`
	CAFile   string     `name:"ca-file" type:"path" help:"File with the CA certificate of the mail server (PEM); when empty, the CA certificates of the machine."`
	Username string     `help:"User name for the mail server; when empty, there is no log-in."`
	Password obs.Secret `help:"Password for the mail server; prefer an environment variable or a file to the flag."`
	From     string     `default:"rotaloom@localhost" help:"Sender address of e-mails."`
}

// timeout bounds each step of an SMTP session.
const timeout = 20 * time.Second

// Mailer is the transport for e-mails.
type Mailer struct {
	cfg    Config
	tls    *tls.Config
	domain string
}

// New returns a Mailer. It does not connect. It returns an error for an unknown encryption, or for a remote
// server without encryption.
func New(cfg Config) (*Mailer, error) {
	if cfg.Port == 0 {
		cfg.Port = 587
	}
	if cfg.TLS == "" {
		cfg.TLS = "starttls"
	}
	if cfg.From == "" {
		cfg.From = "rotaloom@localhost"
	}
	if !emailaddress.Valid(cfg.From) {
		return nil, fmt.Errorf("smtp-from %q is not an e-mail address", cfg.From)
	}
	at := strings.LastIndexByte(cfg.From, '@')
	m := &Mailer{cfg: cfg, domain: cfg.From[at+1:], tls: &tls.Config{ServerName: cfg.Host, MinVersion: tls.VersionTLS12}}
	switch {
	case cfg.TLS != "starttls" && cfg.TLS != "implicit" && cfg.TLS != "none":
		return nil, fmt.Errorf("smtp-tls is %q; it must be starttls, implicit or none", cfg.TLS)
	case cfg.TLS == "none" && cfg.Host != "" && !local(cfg.Host):
		return nil, fmt.Errorf("smtp-tls none needs a mail server on this machine, but smtp-host is %q: use starttls or implicit", cfg.Host)
	case cfg.CAFile != "":
		pem, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("smtp-ca-file: %w", err)
		}
		m.tls.RootCAs = x509.NewCertPool()
		if !m.tls.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("smtp-ca-file: %s contains no certificate", cfg.CAFile)
		}
	}
	return m, nil
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// unavailable is the message for tenants if e-mails cannot be sent. The address of the mail server and the
// reason are only for the operator.
const unavailable = "The mail server does not accept e-mails at the moment."

var errNoServer = errors.New("no mail server is set (--smtp-host)")

// Send sends an e-mail. All attempts have the same Message-ID. A permanent rejection of an address is a
// permanent error.
func (m *Mailer) Send(ctx context.Context, d *delivery.Delivery) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if m.cfg.Host == "" {
		return "", errNoServer
	}
	message, err := m.message(d)
	if err != nil {
		return "", delivery.Refused("The e-mail cannot be written: " + err.Error())
	}
	options := append(m.options(), mail.WithDialContextFunc(func(dialing context.Context, network, address string) (net.Conn, error) {
		return m.dial(dialing, ctx, network, address)
	}))
	client, err := mail.NewClient(m.cfg.Host, options...)
	if err != nil {
		return "", &delivery.Error{Message: unavailable, Cause: fmt.Errorf("mail server: %w", err)}
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return "", &delivery.Error{Message: unavailable, Cause: fmt.Errorf("mail server: %w", err)}
	}
	err = client.SendWithSMTPClient(session, message)
	// The server has accepted the message or not. The end of the session does not change that.
	_ = client.CloseWithSMTPClient(session)
	if err != nil {
		return "", classify(err)
	}
	return "The mail server accepted the e-mail.", nil
}

// dial connects to the mail server. The connection closes when the attempt is over: each step of a session has
// its own timeout, and together they could outlast the lease, after which another process begins an attempt.
func (m *Mailer) dial(ctx, attempt context.Context, network, address string) (net.Conn, error) {
	dialed, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(attempt, func() { _ = dialed.Close() })
	if m.cfg.TLS != "implicit" {
		return dialed, nil
	}
	encrypted := tls.Client(dialed, m.tls.Clone())
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, dialed.Close())
	}
	return encrypted, nil
}

func (m *Mailer) options() []mail.Option {
	options := []mail.Option{
		mail.WithPort(m.cfg.Port), mail.WithTimeout(timeout), mail.WithTLSConfig(m.tls.Clone()), mail.WithHELO(m.domain),
	}
	switch m.cfg.TLS {
	case "implicit":
		// dial has encrypted the connection already. With this policy, the library detects that and does not
		// require STARTTLS.
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	case "none":
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if m.cfg.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(m.cfg.Username), mail.WithPassword(string(m.cfg.Password)))
	}
	return options
}

func (m *Mailer) message(d *delivery.Delivery) (*mail.Msg, error) {
	message := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := message.From(m.cfg.From); err != nil {
		return nil, err
	}
	if err := message.To(d.Address); err != nil {
		return nil, err
	}
	message.SetMessageIDWithValue(d.UID.String() + "@" + m.domain)
	message.SetDateWithValue(d.CreatedAt)
	message.Subject(d.Content.GetSubject())
	// Prevents automatic replies.
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	switch d.Content.GetPriority() {
	case "High":
		message.SetImportance(mail.ImportanceHigh)
	case "Low":
		message.SetImportance(mail.ImportanceLow)
	}
	message.SetBodyString(mail.TypeTextPlain, d.Content.GetText())
	return message, nil
}

// classify distinguishes permanent rejections from temporary ones. The server's statements about the address or
// the text are for the tenant. Rejections of the sender or the log-in are only for the operator.
func classify(err error) error {
	var sent *mail.SendError
	if errors.As(err, &sent) && sent.ErrorCode() != 0 {
		switch sent.Reason {
		case mail.ErrSMTPRcptTo, mail.ErrSMTPData, mail.ErrSMTPDataClose:
			return &delivery.Error{Permanent: !sent.IsTemp() && sent.ErrorCode() >= 500, Message: err.Error()}
		}
	}
	return &delivery.Error{Message: unavailable, Cause: fmt.Errorf("mail server: %w", err)}
}
