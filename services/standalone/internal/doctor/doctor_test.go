package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

func examine(now time.Time) *examination {
	return &examination{Command: &Command{}, clock: clock.NewFake(now)}
}

func TestCertificatesAreWarnedAboutBeforeTheyEnd(t *testing.T) {
	t.Parallel()
	begin, end := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	path := certificate(t, begin, end)
	for name, c := range map[string]struct {
		now  time.Time
		want State
	}{
		"before it begins":  {begin.Add(-time.Minute), Failed},
		"when it begins":    {begin, OK},
		"long before":       {end.Add(-expiresSoon), OK},
		"some weeks before": {end.Add(-expiresSoon + time.Second), Warning},
		"one second before": {end.Add(-time.Second), Warning},
		"when it ends":      {end, Failed},
		"a year after it":   {end.AddDate(1, 0, 0), Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := examine(c.now)
			e.certificate(path, "renew it")
			require.Len(t, e.findings, 1)
			assert.Equal(t, c.want, e.findings[0].State, e.findings[0].Found)
			assert.Equal(t, c.want == OK, e.findings[0].Do == "")
		})
	}
}

func TestFilesThatAreNoCertificates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"text.pem": "no certificate", "other.pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, name := range []string{"text.pem", "other.pem", "missing.pem"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := examine(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			e.certificate(filepath.Join(dir, name), "renew it")
			require.Len(t, e.findings, 1)
			assert.Equal(t, Failed, e.findings[0].State)
			assert.NotEmpty(t, e.findings[0].Do)
		})
	}
}

func TestClocksMayDifferALittle(t *testing.T) {
	t.Parallel()
	before := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)
	after := before.Add(40 * time.Millisecond)
	for name, c := range map[string]struct {
		theirs time.Time
		want   State
	}{
		"between":             {before.Add(time.Millisecond), OK},
		"a little before":     {before.Add(-apart + time.Millisecond), OK},
		"a second before":     {before.Add(-apart), Warning},
		"a second after":      {after.Add(apart), Warning},
		"half a minute later": {after.Add(tooFar), Failed},
		"an hour before":      {before.Add(-time.Hour), Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := examine(before)
			e.clocks(before, c.theirs, after)
			require.Len(t, e.findings, 1)
			assert.Equal(t, c.want, e.findings[0].State, e.findings[0].Found)
		})
	}
}

func TestOldTimeZonesAreWarnedAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now  time.Time
		want State
	}{
		"of today":      {time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), OK},
		"of long since": {time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), Warning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := examine(c.now)
			e.timeZones(t.Context())
			require.Len(t, e.findings, 1)
			assert.Equal(t, c.want, e.findings[0].State, e.findings[0].Found)
		})
	}
}

// certificate writes one that holds between two moments.
func certificate(t *testing.T, begin, end time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: begin, NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "some.pem")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return path
}
