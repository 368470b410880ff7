package scopes

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/authn"
)

const usual = "givenName mail nonce openid profile sn uid"

var all = []string{
	"commons.person.read", "commons.person.write",
	"scheduling.schedule.read", "scheduling.schedule.write", "scheduling.shift_template.read",
}

func TestGranted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client      []string
		asked       string
		text        string
		permissions []string
	}{
		"nobody says anything":            {nil, "", usual, all},
		"only about the user":             {nil, "openid profile", "openid profile", all},
		"a habit":                         {nil, "openid email", "openid", all},
		"a habit and no more":             {nil, "email", "*", all},
		"a narrow client":                 {[]string{"scheduling"}, "", usual + " scheduling", all[2:]},
		"a narrow request":                {nil, "openid commons.person.read", "openid commons.person.read", all[:1]},
		"a request within the client":     {[]string{"scheduling.*"}, "scheduling.schedule.read", "scheduling.schedule.read", all[2:3]},
		"a client within the request":     {[]string{"scheduling.schedule.read"}, "scheduling", "scheduling.schedule.read", all[2:3]},
		"two that overlap":                {[]string{"scheduling"}, "read", "scheduling.schedule.read scheduling.shift_template.read", []string{all[2], all[4]}},
		"more than the client may":        {[]string{"read"}, "commons.person.read commons.person.write", "commons.person.read", all[:1]},
		"everything, said twice":          {nil, "* *", "*", all},
		"a scope that nobody knows":       {nil, "openid commons.persn.read", "", nil},
		"nothing in common":               {[]string{"scheduling"}, "commons", "", nil},
		"a client with a scope that went": {[]string{"payroll"}, "", usual + " payroll", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			granted, ok := NewCatalog(all).Of(c.client).Restrict(c.asked)
			assert.Equal(t, c.text != "", ok)
			if ok {
				assert.Equal(t, c.text, granted.Text())
				token := &authn.Principal{Permissions: granted.Permissions([]string{"*"})}
				var permitted []string
				for _, p := range all {
					if token.Has(p) {
						permitted = append(permitted, p)
					}
				}
				assert.Equal(t, c.permissions, permitted)
			}
		})
	}
}

// Clients of the reference product ask for its scopes of recruiting.
func TestScopesOfRecruiting(t *testing.T) {
	t.Parallel()
	c := NewCatalog([]string{"commons.person.read", "recruiting.candidates.read", "recruiting.candidates.write", "recruiting.offers.read"})
	for name, e := range map[string]struct {
		client      []string
		asked       string
		permissions []string
	}{
		"one":                      {nil, "recruiting.domain.candidates.read", []string{"recruiting.candidates.read"}},
		"two":                      {nil, "recruiting.domain.candidates.read recruiting.domain.offers.read", []string{"recruiting.candidates.read", "recruiting.offers.read"}},
		"one of the client's":      {[]string{"recruiting.domain.candidates.read"}, "recruiting.domain.candidates.read recruiting.domain.offers.read", []string{"recruiting.candidates.read"}},
		"one in the client's":      {[]string{"recruiting"}, "recruiting.domain.candidates.write", []string{"recruiting.candidates.write"}},
		"one and an unknown one":   {nil, "recruiting.domain.candidates.read recruiting.domain.easy-apply", []string{"recruiting.candidates.read"}},
		"an unknown one":           {nil, "recruiting.domain.easy-apply", nil},
		"one of the client's only": {[]string{"recruiting.domain.offers.read"}, "", []string{"recruiting.offers.read"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			granted, ok := c.Of(e.client).Restrict(e.asked)
			assert.Equal(t, e.permissions != nil, ok)
			if ok {
				assert.Equal(t, e.permissions, granted.Permissions([]string{"*"}))
			}
		})
	}
	assert.True(t, c.IsKnown("recruiting.domain.offers.read"))
	assert.False(t, c.IsKnown("recruiting.domain.easy-apply"))
	assert.Contains(t, c.Supported(), "recruiting.domain.candidates.write")
}

func TestShorten(t *testing.T) {
	t.Parallel()
	c := NewCatalog(all)
	for name, e := range map[string]struct{ permissions, short []string }{
		"none":                    {nil, nil},
		"all":                     {all, []string{"*"}},
		"all of a domain":         {all[2:], []string{"scheduling.*"}},
		"a domain and some":       {all[1:], []string{"commons.person.write", "scheduling.*"}},
		"some":                    {all[3:4], all[3:4]},
		"not quite all of either": {[]string{all[0], all[2], all[4]}, []string{all[0], all[2], all[4]}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, e.short, c.shortenPermissions(e.permissions))
		})
	}
	assert.Nil(t, NewCatalog(nil).shortenPermissions(nil), "nothing is not everything")
}

// Permissions are found once for the same question, until too many others were asked.
func TestPermissionsAreRemembered(t *testing.T) {
	t.Parallel()
	m, found := newMemo(), 0
	ask := func(scope string) { m.get(nil, []string{scope}, func() []string { found++; return nil }) }
	for i := range maxMemo {
		ask(strconv.Itoa(i))
	}
	for i := range maxMemo {
		ask(strconv.Itoa(i))
	}
	assert.Equal(t, maxMemo, found)
	ask("one more")
	ask("0")
	assert.Equal(t, maxMemo+2, found, "what was asked for longest ago has gone")
}

func TestAskedAgain(t *testing.T) {
	t.Parallel()
	first, ok := NewCatalog(all).Of(nil).Restrict("openid read")
	assert.True(t, ok)
	for asked, text := range map[string]string{
		"":                         "openid read",
		"commons.person.read mail": "commons.person.read", // mail was not granted before.
		"commons":                  "commons.person.read",
		"write":                    "",
	} {
		t.Run(asked, func(t *testing.T) {
			again, ok := first.Restrict(asked)
			assert.Equal(t, text != "", ok, asked)
			if ok {
				assert.Equal(t, text, again.Text())
			}
		})
	}
}

func TestNarrows(t *testing.T) {
	t.Parallel()
	c := NewCatalog(all)
	assert.False(t, c.Narrows(nil, nil))
	assert.False(t, c.Narrows([]string{"scheduling.schedule.read"}, []string{"read"}))
	assert.False(t, c.Narrows([]string{"read"}, nil))
	assert.True(t, c.Narrows(nil, []string{"read"}))
	assert.True(t, c.Narrows([]string{"read", "write"}, []string{"read"}))
}

func TestKnown(t *testing.T) {
	t.Parallel()
	c := NewCatalog(all)
	for _, good := range []string{"read", "scheduling", "*", "payroll.*", "commons.person.read"} {
		t.Run(good, func(t *testing.T) {
			assert.True(t, c.IsKnown(good), good)
		})
	}
	for _, bad := range []string{"", "openid", "payroll", "commons.person.raed", "a b", "Read", "(.*"} {
		t.Run(bad, func(t *testing.T) {
			assert.False(t, c.IsKnown(bad), bad)
		})
	}
}
