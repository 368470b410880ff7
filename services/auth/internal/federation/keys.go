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

// Config configures the access to identity providers. The zero value permits public addresses over HTTPS only.
type Config struct {
	Networks []string `name:"federation-networks" help:"Non-public networks (CIDR) in which identity providers are allowed."`
	CA       string   `name:"federation-ca" help:"File with additional CA certificates for identity providers (PEM)."`
	// SharedIssuers are issuers that several tenants may register.
	SharedIssuers []string `name:"federation-shared-issuers" help:"Issuers that several tenants may register. Any other issuer belongs to the tenant that registers it first."`
	PlainHTTP     bool     `name:"federation-plain-http" hidden:"" help:"Allow identity providers without TLS; for tests."`
}

const (
	httpTimeout   = 5 * time.Second
	maxDocument   = 1 << 20
	maxKeys       = 100
	minRSABits    = 2048
	discoveryPath = "/.well-known/openid-configuration"
	// maxSets is the number of providers whose keys are cached.
	maxSets = 1000
)

// client returns the HTTP client for identity providers. Tenants choose the addresses, so it connects to public
// addresses only, checked after name resolution, and follows neither redirects nor a proxy.
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

// special are networks that are not part of the public internet although their addresses look public.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("fec0::/10"), netip.MustParsePrefix("::/96"),
}

// checkAddress refuses connections to networks that are neither public nor allowed. It checks the address after
// name resolution.
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
		return fmt.Errorf("the identity provider's address %s is not public: see federation-networks", ip)
	}
	return nil
}

// keySets caches the keys of the providers, by issuer.
type keySets struct {
	cfg    Config
	client *http.Client
	clock  clock.Clock

	// mu ensures that each issuer gets one key set.
	mu   sync.Mutex
	sets *cache.Cache[string, *authn.KeySet]
}

func newKeySets(cfg Config, client *http.Client, clk clock.Clock) *keySets {
	return &keySets{cfg: cfg, client: client, clock: clk, sets: cache.New[string](clk, cache.Config[*authn.KeySet]{Entries: maxSets})}
}

// issuerKeys returns the keys of a configured issuer.
func (k *keySets) issuerKeys(issuer string) *authn.KeySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	if set, ok := k.sets.Get(issuer); ok {
		return set
	}
	set := authn.NewKeySet(func(ctx context.Context) (*jose.JSONWebKeySet, error) { return k.fetch(ctx, issuer) }, k.clock, 0)
	k.sets.Put(issuer, set, time.Time{})
	return set
}

// fetch gets the current keys of an issuer by discovery.
func (k *keySets) fetch(ctx context.Context, issuer string) (*jose.JSONWebKeySet, error) {
	var found struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := k.get(ctx, strings.TrimSuffix(issuer, "/")+discoveryPath, &found); err != nil {
		return nil, fmt.Errorf("discovery of %s: %w", issuer, err)
	}
	if found.Issuer != issuer {
		return nil, fmt.Errorf("the discovery document of %s names the issuer %q", issuer, found.Issuer)
	}
	if err := k.cfg.checkURL(trimQuery(found.JWKSURI)); err != nil {
		return nil, fmt.Errorf("key set of %s: %w", issuer, err)
	}
	// Skip keys of unknown kinds instead of rejecting the whole set.
	var raw struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, found.JWKSURI, &raw); err != nil {
		return nil, fmt.Errorf("key set of %s: %w", issuer, err)
	}
	if len(raw.Keys) > maxKeys {
		return nil, fmt.Errorf("key set of %s: it has %d keys, which is more than the limit", issuer, len(raw.Keys))
	}
	set := &jose.JSONWebKeySet{}
	for _, text := range raw.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(text) == nil && isUsable(&key) {
			set.Keys = append(set.Keys, key)
		}
	}
	return set, nil
}

// trimQuery removes the query, which the address of a key set may have.
func trimQuery(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}

// isUsable reports whether a key can verify signatures and is strong enough.
func isUsable(key *jose.JSONWebKey) bool {
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
