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

// Config says which server takes e-mails. Without a host they wait until there is one,
// as long as deliveries are tried.
type Config struct {
	Host     string     `help:"Mail server. Without one, e-mails wait, and fail when their time is over."`
	Port     int        `default:"587" help:"Port of the mail server."`
	TLS      string     `name:"tls" default:"starttls" enum:"starttls,implicit,none" help:"How the connection to the mail server is encrypted: starttls, implicit, or none, which needs a server on this machine."`
	CAFile   string     `name:"ca-file" type:"path" help:"Certificate authority of the mail server, as PEM; those of the web when empty."`
	Username string     `help:"User at the mail server; nobody when empty."`
	Password obs.Secret `help:"Password of that user, best as a variable or a file."`
	From     string     `default:"rotaloom@localhost" help:"Address that e-mails come from."`
}

// timeout bounds each step of a conversation with the server.
const timeout = 20 * time.Second

// Mailer is the transport of e-mails.
type Mailer struct {
	cfg    Config
	tls    *tls.Config
	domain string
}

// New makes a Mailer. It connects to nobody. An encryption that is no setting, or a
// server elsewhere without encryption, is an error.
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
		return nil, fmt.Errorf("smtp-from %q is no e-mail address", cfg.From)
	}
	at := strings.LastIndexByte(cfg.From, '@')
	m := &Mailer{cfg: cfg, domain: cfg.From[at+1:], tls: &tls.Config{ServerName: cfg.Host, MinVersion: tls.VersionTLS12}}
	switch {
	case cfg.TLS != "starttls" && cfg.TLS != "implicit" && cfg.TLS != "none":
		return nil, fmt.Errorf("smtp-tls is %q, and must be starttls, implicit or none", cfg.TLS)
	case cfg.TLS == "none" && cfg.Host != "" && !local(cfg.Host):
		return nil, fmt.Errorf("smtp-tls none needs a mail server on this machine, and smtp-host is %q: use starttls or implicit", cfg.Host)
	case cfg.CAFile != "":
		pem, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("smtp-ca-file: %w", err)
		}
		m.tls.RootCAs = x509.NewCertPool()
		if !m.tls.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("smtp-ca-file: %s holds no certificate", cfg.CAFile)
		}
	}
	return m, nil
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// unavailable is what tenants read when e-mails cannot be sent. The address of the mail
// server, and why it lets nobody in, is for the operator alone.
const unavailable = "The mail server takes no e-mails now."

var errNoServer = errors.New("no mail server is set (--smtp-host)")

// Send sends an e-mail. Its Message-ID is the same each time. An address that the
// server refuses for good is not tried again.
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
	// The server has taken the message or not; how it says goodbye changes nothing.
	_ = client.CloseWithSMTPClient(session)
	if err != nil {
		return "", refusal(err)
	}
	return "The mail server took it.", nil
}

// dial connects to the mail server. The connection is closed when the attempt is over:
// each step of a conversation has a time of its own, and all of them together could
// outlast the lease, by whose end another process begins an attempt.
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
		// The connection is encrypted before the library sees it (dial), which finds that
		// out by itself when it may, and need not, ask for STARTTLS.
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
	// Nobody's mailbox is to answer by itself.
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

// refusal distinguishes what the server refused for good from what it may take later. What it
// says of the address or the text is for the tenant. Who may send, and how, is between
// the server and the operator.
func refusal(err error) error {
	var sent *mail.SendError
	if errors.As(err, &sent) && sent.ErrorCode() != 0 {
		switch sent.Reason {
		case mail.ErrSMTPRcptTo, mail.ErrSMTPData, mail.ErrSMTPDataClose:
			return &delivery.Error{Permanent: !sent.IsTemp() && sent.ErrorCode() >= 500, Message: err.Error()}
		}
	}
	return &delivery.Error{Message: unavailable, Cause: fmt.Errorf("mail server: %w", err)}
}
