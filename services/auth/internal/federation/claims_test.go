package federation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parseTestClaims returns the claims of a token.
func parseTestClaims(t *testing.T, text string) claims {
	t.Helper()
	c, err := parseClaims([]byte(text))
	require.NoError(t, err)
	return c
}

func TestWhenTokensAreAccepted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(after time.Duration) int64 { return now.Add(after).Unix() }
	inAnHour := at(time.Hour)
	ours := `"iss":"https://id.test","aud":"rotaloom"`
	for _, c := range []struct {
		name, claims string
		end          time.Duration // of the token, for us; 0 when it is refused
	}{
		{"a usual one", fmt.Sprintf(`{%s,"exp":%d,"iat":%d,"nbf":%[3]d}`, ours, inAnHour, at(0)), time.Hour + time.Minute},
		{"of several audiences", fmt.Sprintf(`{"iss":"https://id.test","aud":["web","rotaloom"],"exp":%d}`, inAnHour), time.Hour + time.Minute},
		{"of another audience", fmt.Sprintf(`{"iss":"https://id.test","aud":"web","exp":%d}`, inAnHour), 0},
		{"of an audience that continues ours", fmt.Sprintf(`{"iss":"https://id.test","aud":"rotaloom2","exp":%d}`, inAnHour), 0},
		{"of no audience", fmt.Sprintf(`{"iss":"https://id.test","exp":%d}`, inAnHour), 0},
		{"of an empty list of audiences", fmt.Sprintf(`{"iss":"https://id.test","aud":[],"exp":%d}`, inAnHour), 0},
		{"of another issuer", fmt.Sprintf(`{"iss":"https://id.test/","aud":"rotaloom","exp":%d}`, inAnHour), 0},
		{"of no issuer", fmt.Sprintf(`{"aud":"rotaloom","exp":%d}`, inAnHour), 0},
		{"of an issuer that is a number", fmt.Sprintf(`{"iss":7,"aud":"rotaloom","exp":%d}`, inAnHour), 0},
		{"expired for as long as clocks may differ", fmt.Sprintf(`{%s,"exp":%d}`, ours, at(-59*time.Second)), time.Second},
		{"expired for longer", fmt.Sprintf(`{%s,"exp":%d}`, ours, at(-61*time.Second)), 0},
		{"without an end", fmt.Sprintf(`{%s}`, ours), 0},
		{"with an end of null", fmt.Sprintf(`{%s,"exp":null}`, ours), 0},
		{"with an end in another case", fmt.Sprintf(`{%s,"EXP":%d}`, ours, inAnHour), 0},
		{"with an end that is a text", fmt.Sprintf(`{%s,"exp":"%d"}`, ours, inAnHour), 0},
		{"with a day to go", fmt.Sprintf(`{%s,"exp":%d}`, ours, at(24*time.Hour)), 24*time.Hour + time.Minute},
		{"with more than a day to go", fmt.Sprintf(`{%s,"exp":%d}`, ours, at(24*time.Hour+time.Second)), 0},
		{"with an end that is far away", fmt.Sprintf(`{%s,"exp":4e18}`, ours), 0},
		{"with an end that no clock reaches", fmt.Sprintf(`{%s,"exp":1e300}`, ours), 0},
		{"beginning as soon as clocks may differ", fmt.Sprintf(`{%s,"exp":%d,"nbf":%d}`, ours, inAnHour, at(time.Minute)), time.Hour + time.Minute},
		{"beginning later", fmt.Sprintf(`{%s,"exp":%d,"nbf":%d}`, ours, inAnHour, at(61*time.Second)), 0},
		{"beginning when no clock gets to", fmt.Sprintf(`{%s,"exp":%d,"nbf":1e300}`, ours, inAnHour), 0},
		{"issued as soon as clocks may differ", fmt.Sprintf(`{%s,"exp":%d,"iat":%d}`, ours, inAnHour, at(time.Minute)), time.Hour + time.Minute},
		{"issued later", fmt.Sprintf(`{%s,"exp":%d,"iat":%d}`, ours, inAnHour, at(61*time.Second)), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &provider{issuer: "https://id.test", audience: "rotaloom", skew: time.Minute}
			end, err := p.validate(parseTestClaims(t, c.claims), now)
			if c.end == 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.WithinDuration(t, now.Add(c.end), end, 0)
		})
	}
}

func TestUserNamesInTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, claim, claims string
		want                string // "" if no user is named
	}{
		{"a text", "sub", `{"sub":"ada"}`, "ada"},
		{"a number", "number", `{"number":4711,"sub":"ada"}`, "4711"},
		{"a number beyond those of JavaScript", "number", `{"number":12345678901234567891}`, "12345678901234567891"},
		{"a text that looks like a number", "number", `{"number":"0047"}`, "0047"},
		{"a name of a thousand bytes", "sub", `{"sub":"` + strings.Repeat("a", 1000) + `"}`, strings.Repeat("a", 1000)},
		{"a longer name", "sub", `{"sub":"` + strings.Repeat("a", 1001) + `"}`, ""},
		{"an empty name", "sub", `{"sub":""}`, ""},
		{"spaces", "sub", `{"sub":" \t"}`, ""},
		{"a name with a zero character", "sub", `{"sub":"a\u0000"}`, ""},
		{"another claim", "number", `{"sub":"ada"}`, ""},
		{"the claim in another case", "number", `{"Number":"4711"}`, ""},
		{"null", "sub", `{"sub":null}`, ""},
		{"a truth value", "sub", `{"sub":true}`, ""},
		{"a list", "sub", `{"sub":["ada"]}`, ""},
		{"an object", "sub", `{"sub":{"name":"ada"}}`, ""},
		{"an address that is verified", "email", `{"email":"ada@x.test","email_verified":true}`, "ada@x.test"},
		{"an address that is verified, as a text", "email", `{"email":"ada@x.test","email_verified":"true"}`, "ada@x.test"},
		{"an address that is not", "email", `{"email":"ada@x.test","email_verified":false}`, ""},
		{"an address that is not, as a text", "email", `{"email":"ada@x.test","email_verified":"false"}`, ""},
		{"an address of which nothing is said", "email", `{"email":"ada@x.test"}`, ""},
		{"a name beside an address that is not verified", "sub", `{"sub":"ada","email":"eve@x.test","email_verified":false}`, "ada"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name, err := (&provider{userClaim: c.claim}).user(parseTestClaims(t, c.claims))
			assert.Equal(t, c.want, name)
			assert.Equal(t, c.want == "", err != nil, "%v", err)
		})
	}
}

func TestAccessProfilesInTokens(t *testing.T) {
	t.Parallel()
	mapped := provider{profileClaim: "groups", profileValues: []string{"planners", "all", "7"}, profileNames: []string{"Scheduler", "Payroll", "Manager"}}
	for _, c := range []struct {
		name     string
		provider provider
		claims   string
		want     string // "refused" for none
	}{
		{"a text", mapped, `{"groups":"all"}`, "Payroll"},
		{"a list", mapped, `{"groups":["others","all"]}`, "Payroll"},
		{"the first of the provider's", mapped, `{"groups":["all","planners"]}`, "Scheduler"},
		{"a number", mapped, `{"groups":7}`, "Manager"},
		{"a value in another case", mapped, `{"groups":"ALL"}`, "refused"},
		{"a part of a value", mapped, `{"groups":"all planners"}`, "refused"},
		{"no value that has a profile", mapped, `{"groups":["others"]}`, "refused"},
		{"an empty list", mapped, `{"groups":[]}`, "refused"},
		{"null", mapped, `{"groups":null}`, "refused"},
		{"no claim", mapped, `{}`, "refused"},
		{"a list with something else", mapped, `{"groups":["all",{}]}`, "refused"},
		{"a provider that chooses none", provider{}, `{"groups":["all"]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			chosen, err := c.provider.profile(parseTestClaims(t, c.claims))
			if c.want == "refused" {
				require.Error(t, err)
				assert.Empty(t, chosen)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, chosen)
		})
	}
}

func TestAcceptedTypesOfTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		typ    any
		access bool
	}{
		{"none", nil, true},
		{"of id tokens", "JWT", true},
		{"of access tokens", "at+jwt", true},
		{"in full", "application/at+JWT", true},
		{"of logout tokens", "logout+jwt", false},
		{"of proofs", "dpop+jwt", false},
		{"empty", "", false},
		{"a number", 7.0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.access, isAccessType(c.typ))
		})
	}
}
