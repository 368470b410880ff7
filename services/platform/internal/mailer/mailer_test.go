package mailer

import (
	"context"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/smtptest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
)

func mailTo(address string) *delivery.Delivery {
	return &delivery.Delivery{
		UID: uuid.New(), Address: address, CreatedAt: time.Now(),
		Content: &platformv1.DeliveryContent{Subject: "Dienstplan für Zürich", Text: "Grüezi.\n.\nEnde\n", Priority: "High"},
	}
}

func newConfig(s *smtptest.Server, encryption string) Config {
	return Config{Host: s.Host, Port: s.Port, CAFile: s.CAFile, TLS: encryption, From: "roster@example.com", Username: "rotaloom", Password: "a password"}
}

func TestMailsArriveEncrypted(t *testing.T) {
	t.Parallel()
	for _, encryption := range []string{"starttls", "implicit"} {
		t.Run(encryption, func(t *testing.T) {
			t.Parallel()
			server := smtptest.Start(t, encryption == "implicit", "rotaloom", "a password")
			m, err := New(newConfig(server, encryption))
			require.NoError(t, err)
			d := mailTo("ada@example.com")
			for range 2 {
				_, err = m.Send(t.Context(), d)
				require.NoError(t, err)
			}
			mails := server.Mails()
			require.Len(t, mails, 2)
			got := mails[0]
			assert.Equal(t, "roster@example.com", got.From)
			assert.Equal(t, "ada@example.com", got.To)
			assert.Equal(t, "<"+d.UID.String()+"@example.com>", got.Header.Get("Message-Id"))
			assert.Equal(t, got.Header.Get("Message-Id"), mails[1].Header.Get("Message-Id"), "the same each time")
			subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
			require.NoError(t, err)
			assert.Equal(t, "Dienstplan für Zürich", subject)
			body, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(got.Body)))
			require.NoError(t, err)
			assert.Equal(t, "Grüezi.\n.\nEnde\n", strings.ReplaceAll(string(body), "\r\n", "\n"))
			assert.Equal(t, "high", strings.ToLower(got.Header.Get("Importance")))
			assert.Equal(t, "auto-generated", got.Header.Get("Auto-Submitted"))
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	server := smtptest.Start(t, false, "rotaloom", "a password")
	server.Refuse(func(to string) error {
		switch to {
		case "gone@example.com":
			return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such user"}
		case "full@example.com":
			return &smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 2, 2}, Message: "Mailbox full"}
		}
		return nil
	})
	good := newConfig(server, "starttls")
	for name, test := range map[string]struct {
		to        string
		change    func(*Config)
		permanent bool
		// says is for the tenant, and cause for the operator alone.
		says, cause string
	}{
		"an address that is gone":          {"gone@example.com", func(*Config) {}, true, "No such user", ""},
		"a mailbox that is full":           {"full@example.com", func(*Config) {}, false, "Mailbox full", ""},
		"a wrong password":                 {"ada@example.com", func(c *Config) { c.Password = "another" }, false, unavailable, "Wrong username or password"},
		"a server that nobody vouches for": {"ada@example.com", func(c *Config) { c.CAFile = "" }, false, unavailable, "certificate"},
		"a server that is away":            {"ada@example.com", func(c *Config) { c.Port = 1 }, false, unavailable, ":1: connect"},
		"a sender that may not send":       {"ada@example.com", func(c *Config) { c.Username = "" }, false, unavailable, "Please authenticate"},
		"no server":                        {"ada@example.com", func(c *Config) { c.Host = "" }, false, "--smtp-host", ""},
		"a text that is no address":        {"ada@example.com\r\nRCPT TO:<b@example.com>", func(*Config) {}, true, "cannot be written", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := good
			test.change(&cfg)
			m, err := New(cfg)
			require.NoError(t, err)
			_, err = m.Send(t.Context(), mailTo(test.to))
			require.ErrorContains(t, err, test.says)
			var known *delivery.Error
			assert.Equal(t, test.permanent, assert.ErrorAs(&testing.T{}, err, &known) && known.Permanent)
			if test.cause != "" {
				require.ErrorAs(t, err, &known)
				require.ErrorContains(t, known.Cause, test.cause)
				assert.NotContains(t, err.Error(), test.cause)
				assert.NotContains(t, err.Error(), server.Host)
			}
		})
	}
	t.Cleanup(func() { assert.Empty(t, server.Mails()) })
}

func TestAnAttemptEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, encryption := range []string{"starttls", "implicit"} {
		t.Run(encryption, func(t *testing.T) {
			t.Parallel()
			server := smtptest.Start(t, encryption == "implicit", "", "")
			block := make(chan struct{})
			defer close(block)
			server.Refuse(func(string) error { <-block; return nil })
			cfg := newConfig(server, encryption)
			cfg.Username = ""
			m, err := New(cfg)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err = m.Send(ctx, mailTo("ada@example.com"))
			require.Error(t, err)
			assert.Less(t, time.Since(began), 10*time.Second)
		})
	}
}

// A server that takes connections and says nothing holds an attempt up until its time
// is over, while the connection is encrypted as well.
func TestAServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	for _, encryption := range []string{"starttls", "implicit"} {
		t.Run(encryption, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer listener.Close()
			m, err := New(Config{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, TLS: encryption})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err = m.Send(ctx, mailTo("ada@example.com"))
			require.Error(t, err)
			assert.Less(t, time.Since(began), 10*time.Second)
		})
	}
}

func TestSettingsThatCannotWork(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"no encryption to elsewhere":  {Host: "mail.example.com", TLS: "none"},
		"an encryption that is none":  {Host: "mail.example.com", TLS: "ssl"},
		"a sender that is no address": {From: "Rotaloom <a@example.com>"},
		"no such file":                {CAFile: "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(cfg)
			assert.Error(t, err)
		})
	}
	_, err := New(Config{})
	assert.NoError(t, err)
}
