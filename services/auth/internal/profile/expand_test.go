package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	all := []string{"commons.person.read", "commons.person.write", "scheduling.shift.read"}
	for name, c := range map[string]struct{ grants, want []string }{
		"nothing":           {nil, nil},
		"everything":        {[]string{"*"}, all},
		"one":               {[]string{"commons.person.read"}, all[:1]},
		"a domain":          {[]string{"commons.*"}, all[:2]},
		"all reading":       {[]string{"*.read"}, []string{all[0], all[2]}},
		"one granted twice": {[]string{"commons.*", "commons.person.read"}, all[:2]},
		"a dot is a dot":    {[]string{"commons.person_read"}, nil},
		"no such thing":     {[]string{"payroll.*"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, Expand(c.grants, all))
		})
	}
}

func TestFirstExceeding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grants, held []string
		want         string
	}{
		"nothing asked":                {nil, nil, ""},
		"nothing held":                 {[]string{"a.b.read"}, nil, "a.b.read"},
		"the same":                     {[]string{"a.b.read"}, []string{"a.b.read"}, ""},
		"a part of a pattern":          {[]string{"a.b.read", "a.*.read"}, []string{"a.*"}, ""},
		"everything of everything":     {[]string{"*"}, []string{"*"}, ""},
		"everything of all there is":   {[]string{"*"}, []string{"a.*", "b.*"}, "*"},
		"a pattern of one permission":  {[]string{"a.*"}, []string{"a.b.read"}, "a.*"},
		"reading everywhere of a part": {[]string{"*.read"}, []string{"a.*"}, "*.read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, FirstExceeding(c.grants, c.held))
		})
	}
}
