package auth_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/auth/internal/directory"
)

const (
	suffix     = "dc=example,dc=org"
	searcher   = "cn=searcher," + suffix
	searcherPW = "searcher's secret"
)

// slapd is a directory server of the test's own, with and without TLS.
type slapd struct {
	plain, secure, ca string
	command           *exec.Cmd
	ended             chan error
}

func startSlapd(t *testing.T) *slapd {
	t.Helper()
	dir := t.TempDir()
	ca, err := certs.OpenLocalCA(filepath.Join(dir, "tls"), time.Now())
	require.NoError(t, err)
	files, err := ca.Issue("localhost")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "db"), 0o700))
	config := filepath.Join(dir, "slapd.conf")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile %s
TLSCertificateFile %s
TLSCertificateKeyFile %s
# Without TLS nothing is served.
security ssf=128
database mdb
maxsize 10485760
suffix "%s"
rootdn "%s"
rootpw "%s"
directory %s
access to attrs=userPassword by anonymous auth by * none
access to * by * none
`, files.CA, files.Cert, files.Key, suffix, searcher, searcherPW, filepath.Join(dir, "db")), 0o600))
	s := &slapd{ca: files.CA, plain: "ldap://" + freeAddress(t), secure: "ldaps://" + freeAddress(t), ended: make(chan error, 1)}
	program, err := exec.LookPath("slapd")
	if err != nil {
		program = "/usr/sbin/slapd" // Not on the PATH of ordinary users.
	}
	s.command = exec.Command(program, "-d", "0", "-f", config, "-h", s.plain+" "+s.secure)
	s.command.Stderr = os.Stderr
	require.NoError(t, s.command.Start(), "tools/need-slapd.sh installs it")
	go func() { s.ended <- s.command.Wait() }()
	t.Cleanup(s.stop)
	s.fill(t)
	return s
}

func (s *slapd) stop() {
	if s.command == nil {
		return
	}
	_ = s.command.Process.Signal(syscall.SIGTERM) // It may have ended already.
	<-s.ended
	s.command = nil
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return fmt.Sprintf("localhost:%d", l.Addr().(*net.TCPAddr).Port)
}

func (s *slapd) fill(t *testing.T) {
	t.Helper()
	var conn *ldap.Conn
	require.Eventually(t, func() (ok bool) {
		var err error
		conn, err = ldap.DialURL(s.secure, ldap.DialWithTLSConfig(&tls.Config{InsecureSkipVerify: true}))
		return err == nil
	}, 20*time.Second, 20*time.Millisecond)
	defer conn.Close()
	require.NoError(t, conn.Bind(searcher, searcherPW))
	add := func(dn string, attributes map[string][]string) {
		req := ldap.NewAddRequest(dn+suffix, nil)
		for name, values := range attributes {
			req.Attribute(name, values)
		}
		require.NoError(t, conn.Add(req), dn)
	}
	add("", map[string][]string{"objectClass": {"dcObject", "organization"}, "dc": {"example"}, "o": {"Example"}})
	add("ou=people,", map[string][]string{"objectClass": {"organizationalUnit"}, "ou": {"people"}})
	add("ou=groups,", map[string][]string{"objectClass": {"organizationalUnit"}, "ou": {"groups"}})
	for _, uid := range []string{"ada", "nils", "admin", "star*"} {
		add("uid="+uid+",ou=people,", map[string][]string{
			"objectClass": {"inetOrgPerson"}, "uid": {uid}, "cn": {uid}, "sn": {uid},
			"mail": {uid + "@example.org"}, "userPassword": {"ldap-" + uid},
		})
	}
	add("uid=none,ou=people,", map[string][]string{"objectClass": {"inetOrgPerson"}, "uid": {"none"}, "cn": {"none"}, "sn": {"none"}})
	add("cn=planners,ou=groups,", map[string][]string{
		"objectClass": {"groupOfNames"}, "cn": {"planners"}, "member": {"uid=ada,ou=people," + suffix, "uid=star*,ou=people," + suffix},
	})
	add("cn=staff,ou=groups,", map[string][]string{
		"objectClass": {"groupOfNames"}, "cn": {"staff"}, "member": {"uid=ada,ou=people," + suffix, "uid=nils,ou=people," + suffix},
	})
}

func (s *slapd) config(url string) directory.Config {
	return directory.Config{
		URL: url, CA: s.ca, BindDN: searcher, BindPassword: searcherPW, BaseDN: "ou=people," + suffix,
		Filter: "(&(objectClass=person)(|(uid=%s)(mail=%s)))", GroupBaseDN: "ou=groups," + suffix,
		Profiles: []string{"Scheduler=CN=Planners, ou=groups," + suffix, "Employee=cn=staff,ou=groups," + suffix},
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	s := startSlapd(t)
	for name, url := range map[string]string{"StartTLS": s.plain, "LDAPS": s.secure} {
		t.Run(name, func(t *testing.T) {
			b := newFixtureWith(t, auth.Config{Directory: s.config(url)})
			login := func(name, password string) (*authv1.IssueTokenResponse, error) {
				return b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = name, password }))
			}
			for typed, want := range map[string]struct {
				name string
				// rows distinguishes the profiles Scheduler and Employee.
				rows string
			}{
				"ada":             {"ada", "all"},
				"ADA@example.org": {"ada", "all"},
				"nils":            {"nils", "own"},
				"star*":           {"star*", "all"},
			} {
				t.Run(typed, func(t *testing.T) {
					response, err := login(typed, "ldap-"+want.name)
					require.NoError(t, err, typed)
					p, err := b.verifier.Verify(t.Context(), response.GetAccessToken())
					require.NoError(t, err)
					assert.Equal(t, want.name, p.Subject, typed)
					assert.Equal(t, want.rows, p.Rows, typed)
					assert.Equal(t, []string{"commons.person.read", "scheduling.schedule.read"}, b.grantedPermissions(p), typed)
					b.refresh(t, response.GetRefreshToken())
				})
			}
			for name, c := range map[string]struct{ user, password string }{
				"a wrong password":                  {"ada", "x"},
				"nobody":                            {"nobody", "x"},
				"any name that fits":                {"ad*", "ldap-ada"},
				"an injected filter":                {"x)(uid=ada", "ldap-ada"},
				"an injected filter, closed":        {"ada)(objectClass=*", "ldap-ada"},
				"a user without a password":         {"none", "x"},
				"our user with the other password":  {adminName, "ldap-admin"},
				"our user by an address of another": {"admin@example.org", "ldap-admin"},
			} {
				t.Run(name, func(t *testing.T) {
					_, err := login(c.user, c.password)
					require.Error(t, err, name)
					assertOAuth(t, err, 400, "invalid_grant")
				})
			}
			_, err := login(adminName, adminPassword)
			require.NoError(t, err, "our own users log in as before")
		})
	}
	t.Run("a person without a password of our own logs in by the directory", func(t *testing.T) {
		b := newFixtureWith(t, auth.Config{Directory: s.config(s.secure)})
		_, err := b.users.PutUsers(tenant.With(t.Context(), tenant.Default), &authv1.PutUsersRequest{
			Users: []*authv1.User{{PersonId: 7, Username: "Nils", AccessProfile: "Scheduler"}},
		})
		require.NoError(t, err)
		response, err := b.tokens.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Username, r.Password = "nils", "ldap-nils" }))
		require.NoError(t, err)
		p, err := b.verifier.Verify(t.Context(), response.GetAccessToken())
		require.NoError(t, err)
		assert.EqualValues(t, 7, p.PersonID)
		assert.Equal(t, "own", p.Rows, "the groups decide")
	})
	t.Run("another tenant has nothing to do with it", func(t *testing.T) {
		cfg := s.config(s.secure)
		cfg.Tenant = 2
		b := newFixtureWith(t, auth.Config{Directory: cfg})
		assertOAuth(t, b.try(t.Context(), "", "ada", "ldap-ada"), 400, "invalid_grant")
	})
	t.Run("a certificate of somebody else is not trusted", func(t *testing.T) {
		stranger := s.config(s.secure)
		ca, err := certs.OpenLocalCA(t.TempDir(), time.Now())
		require.NoError(t, err)
		files, err := ca.Issue("localhost")
		require.NoError(t, err)
		stranger.CA = files.CA
		b := newFixtureWith(t, auth.Config{Directory: stranger})
		assertUnavailable(t, b.try(t.Context(), "", "ada", "ldap-ada"))
		stranger.URL = s.plain
		b = newFixtureWith(t, auth.Config{Directory: stranger})
		assertUnavailable(t, b.try(t.Context(), "", "ada", "ldap-ada"))
	})
	t.Run("while it is away our own users log in, and nobody learns who they are", func(t *testing.T) {
		b := newFixtureWith(t, auth.Config{Directory: s.config(s.secure)})
		s.stop()
		require.NoError(t, b.try(t.Context(), "", adminName, adminPassword))
		assertUnavailable(t, b.try(t.Context(), "", "ada", "ldap-ada"))
		assertUnavailable(t, b.try(t.Context(), "", adminName, "x"))
	})
}

func assertUnavailable(t *testing.T, err error) {
	t.Helper()
	assertOAuth(t, err, 503, "temporarily_unavailable")
	assert.Positive(t, fault.FromError(err).RetrySeconds())
	assert.NotContains(t, fault.FromError(err).Message, "localhost")
}

func TestDirectoryThatIsConfiguredWrong(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]directory.Config{
		"no LDAP":       {URL: "https://localhost"},
		"no host":       {URL: "ldaps://"},
		"no place":      {URL: "ldaps://localhost", Filter: "(uid=ada)"},
		"no group":      {URL: "ldaps://localhost", Profiles: []string{"Scheduler"}},
		"no profile":    {URL: "ldaps://localhost", Profiles: []string{"=cn=x"}},
		"no such CA":    {URL: "ldaps://localhost", CA: "/none"},
		"no CA in file": {URL: "ldaps://localhost", CA: "directory_test.go"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := auth.New(t.Context(), auth.Config{HashMemory: 64, HashTime: 1, Directory: cfg}, auth.Deps{Backends: serve.Backends{Clock: clock.System{}}})
			assert.Error(t, err, name)
		})
	}
}
