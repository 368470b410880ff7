// Package directory lets the users of an LDAP directory log in: the directory
// checks the password, by a bind, and says by its groups what they may do.
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
	// connections bounds those that are open at a time.
	connections = 16
	// maxGroups bounds what is read of a user's groups.
	maxGroups = 1000
)

// Config says where the directory is and how it is read. Without a URL there is
// none.
type Config struct {
	URL          string     `name:"ldap-url" help:"LDAP directory whose users may log in: ldaps://host, or ldap://host, which is used with StartTLS."`
	CA           string     `name:"ldap-ca" type:"path" help:"File with the certificates that the directory's is verified against; those of the machine when empty."`
	Tenant       int64      `name:"ldap-tenant" default:"1" help:"Tenant whose users the directory has."`
	BindDN       string     `name:"ldap-bind-dn" help:"Account that searches for users."`
	BindPassword obs.Secret `name:"ldap-bind-password" help:"Password of that account."`
	BaseDN       string     `name:"ldap-base-dn" help:"Where users are searched for."`
	Filter       string     `name:"ldap-filter" default:"(&(objectClass=person)(uid=%s))" help:"Filter that finds a user; %s is the name, escaped."`
	Name         string     `name:"ldap-name-attribute" default:"uid" help:"Attribute with the user's name."`
	Groups       string     `name:"ldap-group-attribute" default:"memberOf" help:"Attribute with the DNs of the user's groups."`
	GroupBaseDN  string     `name:"ldap-group-base-dn" help:"Where groups are searched for that name their members; nowhere when empty."`
	GroupFilter  string     `name:"ldap-group-filter" default:"(member=%s)" help:"Filter that finds the groups of a user; %s is the user's DN, escaped."`
	// Profiles are in the order of precedence.
	Profiles []string `name:"ldap-profiles" sep:";" help:"Access profiles of the members of groups, Profile=DN, separated by semicolons; the first that fits counts."`
}

// mapping gives the members of a group a profile.
type mapping struct {
	profile string
	group   *ldap.DN
}

// User is somebody whose password was right.
type User struct {
	// Name as the directory writes it.
	Name string
	// Profile that the groups give, or "".
	Profile string
}

// Directory is an LDAP directory. It is safe for concurrent use.
type Directory struct {
	cfg      Config
	tls      *tls.Config
	profiles []mapping
	slots    chan struct{}
}

// New makes a Directory, or nil when none is configured. It does not connect.
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
	for field, otherwise := range map[*string]string{
		&cfg.Filter: "(&(objectClass=person)(uid=%s))", &cfg.Name: "uid", &cfg.Groups: "memberOf", &cfg.GroupFilter: "(member=%s)",
	} {
		if *field == "" {
			*field = otherwise
		}
	}
	if !strings.Contains(cfg.Filter, "%s") || !strings.Contains(cfg.GroupFilter, "%s") {
		return nil, errors.New("directory: a filter has no place for the name (%s)")
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
			return nil, fmt.Errorf("directory: %s holds no certificate", cfg.CA)
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

// Serves reports whether the users of a tenant are in the directory. There may
// be no directory.
func (d *Directory) Serves(tenantID int64) bool { return d != nil && d.cfg.Tenant == tenantID }

// Authenticate returns the user with a name and a password, or nil. It takes
// the directory the same steps whether there is such a user or not. A directory
// that cannot be asked is a 503.
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
			"The directory of users cannot be asked at the moment. Try again later.").
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
	// An empty password would be a bind as nobody, which succeeds.
	if password == "" {
		return nil, nil
	}
	err = conn.Bind(dn, password)
	switch {
	case err == nil:
		return user, nil
	case ldap.IsErrorAnyOf(err, refusals...):
		return nil, nil
	}
	return nil, fmt.Errorf("bind as the user: %w", err)
}

// refusals are the responses to a bind that say that this user does not get in.
var refusals = []uint16{
	ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultNoSuchObject,
	ldap.LDAPResultInvalidDNSyntax, ldap.LDAPResultInsufficientAccessRights, ldap.LDAPResultUnwillingToPerform,
	ldap.LDAPResultConstraintViolation,
}

// connect opens a connection that nobody else can read, as the account that
// searches.
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

// find returns the one user with a name, and their DN, or nil.
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
	user.Profile = d.profileOf(groups)
	return user, entry.DN, nil
}

// search returns at most limit entries. More are as good as none for a user,
// and no more are looked at for groups.
func (d *Directory) search(conn *ldap.Conn, base, filter string, limit int, attributes ...string) ([]*ldap.Entry, error) {
	response, err := conn.Search(ldap.NewSearchRequest(base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases,
		limit, int(timeout/time.Second), false, filter, attributes, nil))
	if err != nil && !ldap.IsErrorAnyOf(err, ldap.LDAPResultSizeLimitExceeded) {
		return nil, fmt.Errorf("search: %w", err)
	}
	return response.Entries, nil
}

func (d *Directory) profileOf(groups []string) string {
	var of []*ldap.DN
	for _, group := range groups {
		if dn, err := ldap.ParseDN(group); err == nil {
			of = append(of, dn)
		}
	}
	for _, m := range d.profiles {
		if slices.ContainsFunc(of, m.group.EqualFold) {
			return m.profile
		}
	}
	return ""
}
