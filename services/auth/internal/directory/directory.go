// Package directory authenticates users of an LDAP directory. The directory checks the password with a bind,
// and the user's groups determine the access profile.
package directory

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// timeout bounds connecting and each request.
	timeout    = 5 * time.Second
	retryAfter = 5 * time.Second
	// connections is the number of connections that are open at a time.
	connections = 16
	// maxGroups is the number of a user's groups that are read.
	maxGroups = 1000
)

// Config configures the directory. Without a URL there is no directory.
type Config struct {
	URL          string     `name:"ldap-url" help:"LDAP directory of users who may log in: ldaps://host, or ldap://host, which uses StartTLS."`
	CA           string     `name:"ldap-ca" type:"path" help:"File with the CA certificates for the directory; when empty, the CA certificates of the machine."`
	Tenant       int64      `name:"ldap-tenant" default:"1" help:"Tenant of the directory's users."`
	BindDN       string     `name:"ldap-bind-dn" help:"DN of the account that searches for users."`
	BindPassword obs.Secret `name:"ldap-bind-password" help:"Password of the search account."`
	BaseDN       string     `name:"ldap-base-dn" help:"Base DN of the search for users."`
	Filter       string     `name:"ldap-filter" default:"(&(objectClass=person)(uid=%s))" help:"Filter that finds a user; %s is the name, escaped."`
	Name         string     `name:"ldap-name-attribute" default:"uid" help:"Attribute with the user's name."`
	Groups       string     `name:"ldap-group-attribute" default:"memberOf" help:"Attribute with the DNs of the user's groups."`
	GroupBaseDN  string     `name:"ldap-group-base-dn" help:"Base DN of the search for groups that list their members; when empty, there is no such search."`
	GroupFilter  string     `name:"ldap-group-filter" default:"(member=%s)" help:"Filter that finds the groups of a user; %s is the user's DN, escaped."`
	// Profiles are in the order of precedence.
	Profiles []string `name:"ldap-profiles" sep:";" help:"Access profiles of group members, Profile=DN, separated by semicolons; the first match is used."`
}

// mapping maps a group to an access profile.
type mapping struct {
	profile string
	group   *ldap.DN
}

// User is a user who entered the right password.
type User struct {
	// Name is the name as the directory writes it.
	Name string
	// Profile is the access profile from the user's groups, or "".
	Profile string
}

// Directory is an LDAP directory. It is safe for concurrent use.
type Directory struct {
	cfg      Config
	tls      *tls.Config
	profiles []mapping
	slots    chan struct{}
}

// New returns a Directory, or nil if none is configured. It does not connect.
func New(cfg Config) (*Directory, error) {
	if cfg.URL == "" {
		return nil, nil
	}
	at, err := url.Parse(cfg.URL)
	if err != nil || at.Scheme != "ldaps" && at.Scheme != "ldap" || at.Hostname() == "" {
		return nil, errors.New("directory: the URL must be ldaps://host or ldap://host")
	}
	if cfg.Tenant == 0 {
		cfg.Tenant = tenant.Default
	}
	for field, fallback := range map[*string]string{
		&cfg.Filter: "(&(objectClass=person)(uid=%s))", &cfg.Name: "uid", &cfg.Groups: "memberOf", &cfg.GroupFilter: "(member=%s)",
	} {
		if *field == "" {
			*field = fallback
		}
	}
	if !strings.Contains(cfg.Filter, "%s") || !strings.Contains(cfg.GroupFilter, "%s") {
		return nil, errors.New("directory: a filter lacks the placeholder %s for the name")
	}
	d := &Directory{
		cfg:   cfg,
		tls:   &tls.Config{MinVersion: tls.VersionTLS12, ServerName: at.Hostname()},
		slots: make(chan struct{}, connections),
	}
	if cfg.CA != "" {
		pem, err := os.ReadFile(cfg.CA)
		if err != nil {
			return nil, fmt.Errorf("directory: %w", err)
		}
		d.tls.RootCAs = x509.NewCertPool()
		if !d.tls.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("directory: %s contains no certificate", cfg.CA)
		}
	}
	d.profiles, err = parseProfiles(cfg.Profiles)
	return d, err
}

func parseProfiles(lines []string) ([]mapping, error) {
	var out []mapping
	for _, line := range lines {
		profile, group, _ := strings.Cut(line, "=")
		dn, err := ldap.ParseDN(group)
		if profile = strings.TrimSpace(profile); profile == "" || group == "" || err != nil {
			return nil, fmt.Errorf("directory: %q is not Profile=DN of a group", line)
		}
		out = append(out, mapping{profile, dn})
	}
	return out, nil
}

// Serves reports whether the users of a tenant are in the directory. The receiver may be nil.
func (d *Directory) Serves(tenantID int64) bool { return d != nil && d.cfg.Tenant == tenantID }

// Authenticate returns the user with a name and a password, or nil. The directory does the same work whether
// the user exists or not. It returns a 503 if the directory is unreachable.
func (d *Directory) Authenticate(ctx context.Context, name, password string) (*User, error) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	user, err := d.authenticate(name, password)
	if err != nil {
		return nil, fault.New(fault.CodeIdentityUnavailable, http.StatusServiceUnavailable,
			"The user directory is unreachable at the moment. Try again later.").
			WithRetryAfter(retryAfter).WithCause(err).WithOAuth("temporarily_unavailable")
	}
	return user, nil
}

func (d *Directory) authenticate(name, password string) (*User, error) {
	conn, err := d.connect()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	user, dn, err := d.find(conn, name)
	if err != nil {
		return nil, err
	}
	if user == nil {
		dn, password = "cn="+rand.Text()+","+d.cfg.BaseDN, rand.Text()
	}
	// A bind with an empty password is anonymous and succeeds.
	if password == "" {
		return nil, nil
	}
	err = conn.Bind(dn, password)
	switch {
	case err == nil:
		return user, nil
	case ldap.IsErrorAnyOf(err, deniedResults...):
		return nil, nil
	}
	return nil, fmt.Errorf("bind as the user: %w", err)
}

// deniedResults are the results of a bind that deny the log-in.
var deniedResults = []uint16{
	ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultNoSuchObject,
	ldap.LDAPResultInvalidDNSyntax, ldap.LDAPResultInsufficientAccessRights, ldap.LDAPResultUnwillingToPerform,
	ldap.LDAPResultConstraintViolation,
}

// connect opens an encrypted connection as the search account.
func (d *Directory) connect() (*ldap.Conn, error) {
	conn, err := ldap.DialURL(d.cfg.URL, ldap.DialWithTLSConfig(d.tls), ldap.DialWithDialer(&net.Dialer{Timeout: timeout}))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	conn.SetTimeout(timeout)
	if strings.HasPrefix(d.cfg.URL, "ldap:") {
		if err := conn.StartTLS(d.tls); err != nil {
			return nil, errors.Join(fmt.Errorf("StartTLS: %w", err), conn.Close())
		}
	}
	if d.cfg.BindDN != "" {
		if err := conn.Bind(d.cfg.BindDN, d.cfg.BindPassword.Reveal()); err != nil {
			return nil, errors.Join(fmt.Errorf("bind to search: %w", err), conn.Close())
		}
	}
	return conn, nil
}

// find returns the single user with a name and the user's DN, or nil.
func (d *Directory) find(conn *ldap.Conn, name string) (*User, string, error) {
	filter := strings.ReplaceAll(d.cfg.Filter, "%s", ldap.EscapeFilter(name))
	found, err := d.search(conn, d.cfg.BaseDN, filter, 2, d.cfg.Name, d.cfg.Groups)
	if err != nil || len(found) != 1 {
		return nil, "", err
	}
	entry := found[0]
	user := &User{Name: entry.GetEqualFoldAttributeValue(d.cfg.Name)}
	if user.Name == "" {
		return nil, "", nil
	}
	groups := entry.GetEqualFoldAttributeValues(d.cfg.Groups)
	if d.cfg.GroupBaseDN != "" {
		filter := strings.ReplaceAll(d.cfg.GroupFilter, "%s", ldap.EscapeFilter(entry.DN))
		entries, err := d.search(conn, d.cfg.GroupBaseDN, filter, maxGroups, "1.1")
		if err != nil {
			return nil, "", err
		}
		for _, e := range entries {
			groups = append(groups, e.DN)
		}
	}
	user.Profile = d.mapProfile(groups)
	return user, entry.DN, nil
}

// search returns at most limit entries. The callers ignore further ones: two users with a name count as none,
// and groups beyond the limit are not read.
func (d *Directory) search(conn *ldap.Conn, base, filter string, limit int, attributes ...string) ([]*ldap.Entry, error) {
	response, err := conn.Search(ldap.NewSearchRequest(base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases,
		limit, int(timeout/time.Second), false, filter, attributes, nil))
	if err != nil && !ldap.IsErrorAnyOf(err, ldap.LDAPResultSizeLimitExceeded) {
		return nil, fmt.Errorf("search: %w", err)
	}
	return response.Entries, nil
}

func (d *Directory) mapProfile(groups []string) string {
	var member []*ldap.DN
	for _, group := range groups {
		if dn, err := ldap.ParseDN(group); err == nil {
			member = append(member, dn)
		}
	}
	for _, m := range d.profiles {
		if slices.ContainsFunc(member, m.group.EqualFold) {
			return m.profile
		}
	}
	return ""
}
