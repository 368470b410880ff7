package username_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, b string }{
		"case":              {"victim", "VICTIM"},
		"a space behind":    {"victim", "victim "},
		"spaces around":     {"victim", "\u00a0 victim\u3000"},
		"spaces between":    {"ann  lee", "Ann Lee"},
		"width":             {"victim", "ｖｉｃｔｉｍ"},
		"ligature":          {"office", "oﬃce"},
		"sharp s":           {"strasse", "STRAẞE"},
		"composed":          {"zoë", "zoe\u0308"},
		"Kelvin":            {"kim", "\u212aim"},
		"final sigma":       {"ΣΑΣ", "σας"},
		"an e-mail address": {"Ada.Okafor@Example.org", "ada.okafor@example.org"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := username.Key(c.a)
			require.NoError(t, err)
			b, err := username.Key(c.b)
			require.NoError(t, err)
			assert.Equal(t, a, b)
			again, err := username.Key(a)
			require.NoError(t, err)
			assert.Equal(t, a, again, "the key of a key is itself")
		})
	}
	for _, other := range []string{"victim1", "vic tim", "víctim"} {
		t.Run(other, func(t *testing.T) {
			assert.NotEqual(t, username.LookupKey("victim"), username.LookupKey(other))
		})
	}
	for _, unfit := range []string{"", "  ", "a\x00b", "a\nb", "a\u200bb", "\u202evictim"} {
		t.Run(unfit, func(t *testing.T) {
			_, err := username.Key(unfit)
			assert.Error(t, err, "%q", unfit)
			assert.Empty(t, username.LookupKey(unfit))
		})
	}
}

func FuzzKey(f *testing.F) {
	f.Add("victim ")
	f.Fuzz(func(t *testing.T, name string) {
		key, err := username.Key(name)
		if err != nil {
			return
		}
		again, err := username.Key(key)
		if err != nil || again != key {
			t.Fatalf("key %q of %q has the key %q (%v)", key, name, again, err)
		}
		if same := username.LookupKey(" " + name + " "); same != key && strings.TrimSpace(name) != "" {
			t.Fatalf("%q has the key %q, and %q with spaces around", name, key, same)
		}
	})
}
