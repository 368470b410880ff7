package federation

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// Config says how identity providers are reached. Its zero value reaches those
// with public addresses, over https.
type Config struct {
	Networks []string `name:"federation-networks" help:"Networks (CIDR) that are not public and in which identity providers may be all the same."`
	CA       string   `name:"federation-ca" help:"File of further certificate authorities of identity providers (PEM)."`
	// SharedIssuers may be identity providers of several tenants.
	SharedIssuers []string `name:"federation-shared-issuers" help:"Issuers that may be identity providers of several tenants; any other is one of the tenant that names it first."`
	PlainHTTP     bool     `name:"federation-plain-http" hidden:"" help:"Reach identity providers without TLS: for tests."`
}

const (
	httpTimeout   = 5 * time.Second
	maxDocument   = 1 << 20
	maxKeys       = 100
	minRSABits    = 2048
	discoveryPath = "/.well-known/openid-configuration"
	// maxSets bounds the providers whose keys are remembered.
	maxSets = 1000
)

// client makes the one HTTP client that talks to providers. What it may be sent
// to is written by tenants, so it connects to public addresses only, whatever
// the name resolves to, takes no redirects and no proxy.
func (c Config) client() (*http.Client, error) {
	allowed := make([]netip.Prefix, len(c.Networks))
	for i, text := range c.Networks {
		var err error
		if allowed[i], err = netip.ParsePrefix(text); err != nil {
			return nil, fmt.Errorf("federation-networks: %w", err)
		}
	}
	roots, err := c.roots()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: httpTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		return checkAddress(address, allowed)
	}}
	return &http.Client{
		Timeout: httpTimeout,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: httpTimeout, ForceAttemptHTTP2: true,
			MaxIdleConns: 20, MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func (c Config) roots() (*x509.CertPool, error) {
	if c.CA == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("federation-ca: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("federation-ca: no certificate in %s", c.CA)
	}
	return roots, nil
}

// special are networks that are not the public internet although their
// addresses look so.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("fec0::/10"), netip.MustParsePrefix("::/96"),
}

// checkAddress refuses connections into networks that are neither public nor
// allowed. It sees the address itself, after the name was resolved.
func checkAddress(address string, allowed []netip.Prefix) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address of an identity provider: %w", err)
	}
	ip := at.Addr().Unmap().WithZone("")
	within := func(p netip.Prefix) bool { return p.Contains(ip) }
	if slices.ContainsFunc(allowed, within) {
		return nil
	}
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || slices.ContainsFunc(special, within) {
		return fmt.Errorf("an identity provider at %s, which is not a public address: see federation-networks", ip)
	}
	return nil
}

// keySets are the keys of the providers, by issuer.
type keySets struct {
	cfg    Config
	client *http.Client
	clock  clock.Clock

	// mu lets one set be made for an issuer.
	mu   sync.Mutex
	sets *cache.Cache[string, *authn.KeySet]
}

func newKeySets(cfg Config, client *http.Client, clk clock.Clock) *keySets {
	return &keySets{cfg: cfg, client: client, clock: clk, sets: cache.New[string](clk, cache.Config[*authn.KeySet]{Entries: maxSets})}
}

// of returns the keys of an issuer that is configured.
func (k *keySets) of(issuer string) *authn.KeySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	if set, ok := k.sets.Get(issuer); ok {
		return set
	}
	set := authn.NewKeySet(func(ctx context.Context) (*jose.JSONWebKeySet, error) { return k.fetch(ctx, issuer) }, k.clock, 0)
	k.sets.Put(issuer, set, time.Time{})
	return set
}

// fetch gets the present keys of an issuer, by discovery.
func (k *keySets) fetch(ctx context.Context, issuer string) (*jose.JSONWebKeySet, error) {
	var found struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := k.get(ctx, strings.TrimSuffix(issuer, "/")+discoveryPath, &found); err != nil {
		return nil, fmt.Errorf("discovery of %s: %w", issuer, err)
	}
	if found.Issuer != issuer {
		return nil, fmt.Errorf("discovery of %s is of %q", issuer, found.Issuer)
	}
	if err := k.cfg.checkURL(withoutQuery(found.JWKSURI)); err != nil {
		return nil, fmt.Errorf("key set of %s: %w", issuer, err)
	}
	// One key that cannot be read, of a kind that we do not know, is no reason
	// to do without the others.
	var raw struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, found.JWKSURI, &raw); err != nil {
		return nil, fmt.Errorf("key set of %s: %w", issuer, err)
	}
	if len(raw.Keys) > maxKeys {
		return nil, fmt.Errorf("key set of %s: %d keys are too many", issuer, len(raw.Keys))
	}
	set := &jose.JSONWebKeySet{}
	for _, text := range raw.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(text) == nil && usable(&key) {
			set.Keys = append(set.Keys, key)
		}
	}
	return set, nil
}

// withoutQuery is for the address of keys, which may have a query.
func withoutQuery(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}

// usable reports whether a key can verify signatures, and is strong enough.
func usable(key *jose.JSONWebKey) bool {
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return key.Valid() && public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return key.Valid()
	}
	return false
}

func (k *keySets) get(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := k.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return err
	}
	if len(body) > maxDocument {
		return fmt.Errorf("more than %d bytes", maxDocument)
	}
	return json.Unmarshal(body, into)
}
