// Package federation accepts the tokens of identity providers that a tenant
// trusts, and keeps the list of these.
package federation

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// What the claim that names the user holds.
const (
	matchUsername     = "USERNAME"
	matchPersonNumber = "PERSON_NUMBER"
)

const (
	// maxProviders bounds the providers of a tenant.
	maxProviders = 20
	// maxText bounds names and claims, in bytes, and maxProfiles the mappings of
	// a provider.
	maxText     = 200
	maxIssuer   = 1000
	maxProfiles = 100
	defaultSkew = 60 * time.Second
	maxSkew     = 300 * time.Second
)

// asymmetric are the algorithms that a provider may sign with. Those with a
// shared secret are none of them: their key would be the public one.
var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// provider is an identity provider of a tenant.
type provider struct {
	tenantID     int64
	id           int64
	name         string
	issuer       string
	audience     string
	userClaim    string
	userMatch    string
	profileClaim string
	// profileNames are the access profiles of the profileValues.
	profileValues, profileNames []string
	algorithms                  []string
	skew                        time.Duration
	enabled                     bool
	version                     int64
}

func invalid(format string, args ...any) *fault.Error {
	return fault.Invalid(fault.CodeInput, fmt.Sprintf(format, args...))
}

// read returns the provider that a request describes, its gaps filled.
func (h *Handler) read(in *authv1.IdentityProvider) (*provider, error) {
	p := &provider{
		name: in.GetName(), issuer: in.GetIssuer(), audience: in.GetAudience(),
		userClaim: orText(in.GetUserClaim(), "sub"), userMatch: orText(in.GetUserMatch(), matchUsername),
		profileClaim: in.GetProfileClaim(), algorithms: in.GetAlgorithms(), skew: defaultSkew, enabled: true,
		profileValues: []string{}, profileNames: []string{},
	}
	if len(p.algorithms) == 0 {
		p.algorithms = []string{string(jose.RS256), string(jose.ES256)}
	}
	if in.ClockSkewSeconds != nil {
		p.skew = time.Duration(in.GetClockSkewSeconds()) * time.Second
	}
	if in.Enabled != nil {
		p.enabled = in.GetEnabled()
	}
	for _, m := range in.GetProfiles() {
		p.profileValues, p.profileNames = append(p.profileValues, m.GetValue()), append(p.profileNames, m.GetAccessProfile())
	}
	return p, h.check(p)
}

func (h *Handler) check(p *provider) error {
	for _, t := range []struct{ name, value string }{
		{"name", p.name}, {"audience", p.audience}, {"userClaim", p.userClaim},
	} {
		if !isText(t.value, maxText) {
			return invalid("%s needs a text of at most %d bytes.", t.name, maxText)
		}
	}
	if err := h.cfg.checkURL(p.issuer); err != nil || len(p.issuer) > maxIssuer {
		return invalid("issuer must be an https address without query and fragment, as the provider's tokens name it in \"iss\".").WithCause(err)
	}
	if p.userMatch != matchUsername && p.userMatch != matchPersonNumber {
		return invalid("userMatch must be %s or %s.", matchUsername, matchPersonNumber)
	}
	for _, algorithm := range p.algorithms {
		if !slices.Contains(asymmetric, jose.SignatureAlgorithm(algorithm)) {
			return invalid("algorithms may have %v.", asymmetric)
		}
	}
	if p.skew < 0 || p.skew > maxSkew || len(p.algorithms) > len(asymmetric) {
		return invalid("clockSkewSeconds must be 0 to %d, and each algorithm be there once.", int(maxSkew/time.Second))
	}
	return p.checkProfiles()
}

func (p *provider) checkProfiles() error {
	if (p.profileClaim == "") != (len(p.profileValues) == 0) {
		return invalid("profileClaim and profiles belong together: give both or neither.")
	}
	if len(p.profileValues) > maxProfiles || p.profileClaim != "" && !isText(p.profileClaim, maxText) {
		return invalid("profiles has at most %d items, and profileClaim at most %d bytes.", maxProfiles, maxText)
	}
	for i := range p.profileValues {
		if !isText(p.profileValues[i], maxText) || !isText(p.profileNames[i], maxText) {
			return invalid("profiles[%d] needs a value and an accessProfile of at most %d bytes.", i, maxText)
		}
	}
	return nil
}

// checkURL refuses addresses that cannot be an issuer's or a key set's.
func (c Config) checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("address: %w", err)
	case u.Scheme != "https" && !(c.PlainHTTP && u.Scheme == "http"):
		return fmt.Errorf("the address %q is not one of https", text)
	case u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return fmt.Errorf("the address %q has more or less than host and path", text)
	}
	return nil
}

func isText(text string, limit int) bool {
	return strings.TrimSpace(text) != "" && len(text) <= limit && !strings.ContainsRune(text, 0)
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (p *provider) response() *authv1.IdentityProvider {
	skew := int32(p.skew / time.Second)
	out := &authv1.IdentityProvider{
		Id: p.id, Name: p.name, Issuer: p.issuer, Audience: p.audience, UserClaim: p.userClaim, UserMatch: p.userMatch,
		ProfileClaim: p.profileClaim, Algorithms: p.algorithms, ClockSkewSeconds: &skew, Enabled: &p.enabled,
	}
	for i := range p.profileValues {
		out.Profiles = append(out.Profiles, &authv1.ProfileMapping{Value: p.profileValues[i], AccessProfile: p.profileNames[i]})
	}
	return out
}
