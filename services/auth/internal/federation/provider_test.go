package federation

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

func TestProvidersAreCompleted(t *testing.T) {
	t.Parallel()
	p, err := (&Handler{}).read(&authv1.IdentityProvider{Name: "Company", Issuer: "https://id.test", Audience: "rotaloom"})
	require.NoError(t, err)
	assert.True(t, proto.Equal(&authv1.IdentityProvider{
		Name: "Company", Issuer: "https://id.test", Audience: "rotaloom", UserClaim: "sub", UserMatch: "USERNAME",
		Algorithms: []string{"RS256", "ES256"}, ClockSkewSeconds: proto.Int32(60), Enabled: proto.Bool(true),
	}, p.response()), "%v", p.response())
}

func TestAcceptedProviders(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 201)
	mapping := func(n int, value, profile string) []*authv1.ProfileMapping {
		return slices.Repeat([]*authv1.ProfileMapping{{Value: value, AccessProfile: profile}}, n)
	}
	for _, c := range []struct {
		name    string
		change  func(p *authv1.IdentityProvider)
		refused bool
	}{
		{"an issuer with port and path", func(p *authv1.IdentityProvider) { p.Issuer = "https://id.test:8443/realms/a" }, false},
		{"an issuer without TLS", func(p *authv1.IdentityProvider) { p.Issuer = "http://id.test" }, true},
		{"an issuer without a host", func(p *authv1.IdentityProvider) { p.Issuer = "https:///a" }, true},
		{"an issuer with a port and no host", func(p *authv1.IdentityProvider) { p.Issuer = "https://:443" }, true},
		{"an issuer with a password", func(p *authv1.IdentityProvider) { p.Issuer = "https://a:b@id.test" }, true},
		{"an issuer with an empty query", func(p *authv1.IdentityProvider) { p.Issuer = "https://id.test?" }, true},
		{"an issuer with a fragment", func(p *authv1.IdentityProvider) { p.Issuer = "https://id.test#a" }, true},
		{"an issuer that is no address", func(p *authv1.IdentityProvider) { p.Issuer = "https:id.test" }, true},
		{"an issuer that is too long", func(p *authv1.IdentityProvider) { p.Issuer = "https://id.test/" + strings.Repeat("a", 1000) }, true},
		{"no name", func(p *authv1.IdentityProvider) { p.Name = "" }, true},
		{"a name of spaces", func(p *authv1.IdentityProvider) { p.Name = "  " }, true},
		{"a name with a zero character", func(p *authv1.IdentityProvider) { p.Name = "a\x00" }, true},
		{"an audience that is too long", func(p *authv1.IdentityProvider) { p.Audience = long }, true},
		{"a claim that is too long", func(p *authv1.IdentityProvider) { p.UserClaim = long }, true},
		{"users by the numbers of persons", func(p *authv1.IdentityProvider) { p.UserMatch = "PERSON_NUMBER" }, false},
		{"users by something else", func(p *authv1.IdentityProvider) { p.UserMatch = "username" }, true},
		{"another algorithm", func(p *authv1.IdentityProvider) { p.Algorithms = []string{"EdDSA"} }, false},
		{"an algorithm with a shared secret", func(p *authv1.IdentityProvider) { p.Algorithms = []string{"RS256", "HS256"} }, true},
		{"no signature", func(p *authv1.IdentityProvider) { p.Algorithms = []string{"none"} }, true},
		{"an algorithm too often", func(p *authv1.IdentityProvider) { p.Algorithms = slices.Repeat([]string{"RS256"}, 11) }, true},
		{"clocks that agree", func(p *authv1.IdentityProvider) { p.ClockSkewSeconds = proto.Int32(0) }, false},
		{"clocks that differ by five minutes", func(p *authv1.IdentityProvider) { p.ClockSkewSeconds = proto.Int32(300) }, false},
		{"clocks that differ by more", func(p *authv1.IdentityProvider) { p.ClockSkewSeconds = proto.Int32(301) }, true},
		{"clocks that differ by less than nothing", func(p *authv1.IdentityProvider) { p.ClockSkewSeconds = proto.Int32(-1) }, true},
		{"profiles", func(p *authv1.IdentityProvider) { p.ProfileClaim, p.Profiles = "groups", mapping(100, "a", "Employee") }, false},
		{"too many profiles", func(p *authv1.IdentityProvider) { p.ProfileClaim, p.Profiles = "groups", mapping(101, "a", "Employee") }, true},
		{"profiles without a claim", func(p *authv1.IdentityProvider) { p.Profiles = mapping(1, "a", "Employee") }, true},
		{"a claim without profiles", func(p *authv1.IdentityProvider) { p.ProfileClaim = "groups" }, true},
		{"a profile of no value", func(p *authv1.IdentityProvider) { p.ProfileClaim, p.Profiles = "groups", mapping(1, "", "Employee") }, true},
		{"a value without a profile", func(p *authv1.IdentityProvider) { p.ProfileClaim, p.Profiles = "groups", mapping(1, "a", " ") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent := &authv1.IdentityProvider{Name: "Company", Issuer: "https://id.test", Audience: "rotaloom"}
			c.change(sent)
			_, err := (&Handler{}).read(sent)
			if !c.refused {
				require.NoError(t, err)
				return
			}
			assert.True(t, fault.HasCode(err, fault.CodeInput), "%v", err)
		})
	}
}

// Addresses that a tenant enters never make the service connect to internal networks.
func TestWhereProvidersMayBe(t *testing.T) {
	t.Parallel()
	allowed := []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}
	for _, c := range []struct {
		address string
		reached bool
	}{
		{"198.51.100.7:443", true},
		{"[2a00:1450::1]:443", true},
		{"10.20.3.4:443", true},
		{"[::ffff:10.20.3.4]:443", true},
		{"[fd00:1::7]:443", true},
		{"10.21.0.1:443", false},
		{"[fd00:2::7]:443", false},
		{"127.0.0.1:443", false},
		{"[::1]:443", false},
		{"[::ffff:127.0.0.1]:443", false},
		{"[::127.0.0.1]:443", false},
		{"0.0.0.0:443", false},
		{"[::]:443", false},
		{"172.16.0.1:443", false},
		{"192.168.1.1:443", false},
		{"169.254.169.254:80", false},
		{"[fe80::1%eth0]:443", false},
		{"100.64.0.1:443", false},
		{"198.18.0.1:443", false},
		{"224.0.0.1:443", false},
		{"255.255.255.255:443", false},
		{"[64:ff9b::7f00:1]:443", false},
		{"[64:ff9b:1::7f00:1]:443", false},
		{"[2002:7f00:1::]:443", false},
		{"localhost:443", false},
		{"198.51.100.7", false},
	} {
		t.Run(c.address, func(t *testing.T) {
			t.Parallel()
			err := checkAddress(c.address, allowed)
			assert.Equal(t, c.reached, err == nil, "%v", err)
		})
	}
}

func TestUsableKeys(t *testing.T) {
	t.Parallel()
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	for _, c := range []struct {
		name   string
		key    any
		usable bool
	}{
		{"RSA", &strong.PublicKey, true},
		{"RSA that is too short", &weak.PublicKey, false},
		{"RSA that is private", strong, false},
		{"ECDSA", &curve.PublicKey, true},
		{"ECDSA that is private", curve, false},
		{"Ed25519", edwards, true},
		{"Ed25519 that is too short", edwards[:7], false},
		{"a shared secret", []byte("secret"), false},
		{"none", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.usable, isUsable(&jose.JSONWebKey{Key: c.key}))
		})
	}
}
