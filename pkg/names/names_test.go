package names_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/names"
)

func TestNamesAreCleaned(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ given, want string }{
		"nothing":                 {"", ""},
		"as it is":                {"P-1001 north", "P-1001 north"},
		"two spaces within":       {"Early  Berlin", "Early  Berlin"},
		"capital letters":         {"EARLY", "EARLY"},
		"a space behind":          {"1001 ", "1001"},
		"a tab before":            {"\t1001", "1001"},
		"a no-break space":        {"\u00a01001\u00a0", "1001"},
		"an ideographic space":    {"\u30001001", "1001"},
		"a braille blank":         {"1001\u2800", "1001"},
		"a byte order mark":       {"\ufeff1001", "1001"},
		"a zero-width space":      {"10\u200b01", "1001"},
		"a zero-width joiner":     {"1001\u200d", "1001"},
		"a joiner in Latin":       {"Su\u200dper", "Super"},
		"a joiner in Persian":     {"می\u200cخواهم", "می\u200cخواهم"},
		"a joined symbol":         {"👩\u200d🚀", "👩\u200d🚀"},
		"a soft hyphen":           {"Nacht\u00addienst", "Nachtdienst"},
		"an override of the side": {"\u202e1001", "1001"},
		"a filler":                {"1001\u3164", "1001"},
		"a selector":              {"1001\ufe0f", "1001"},
		"a tag":                   {"1001\U000e0041", "1001"},
		"a decomposed letter":     {"Fru\u0308h", "Früh"},
		"a letter, hidden apart":  {"Fru\u200b\u0308h", "Früh"},
		"a full-width digit":      {"１001", "１001"},
		"only blanks":             {" \u00a0\u200b", ""},
		"Japanese":                {"早番 A", "早番 A"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, names.Clean(test.given))
		})
	}
}

func TestSameNamesHaveOneKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ a, b string }{
		"case":             {"P-1001", "p-1001"},
		"space around":     {" P-1001\u00a0", "P-1001"},
		"space within":     {"P 1001", "P\u00a0\u3000 1001"},
		"zero width":       {"P\u200b-1001", "P-1001"},
		"a joiner":         {"می\u200cخواهم", "میخواهم"},
		"width":            {"Ｐ-１００１", "P-1001"},
		"normal form":      {"Zoe\u0308", "Zoë"},
		"the Kelvin sign":  {"\u212a1", "k1"},
		"byte order marks": {"\ufeffP-1001", "P-1001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, names.Key(test.a), names.Key(test.b))
		})
	}
	for _, other := range []string{"P-1002", "P1001", "P- 1001", "Р-1001"} {
		assert.NotEqual(t, names.Key("P-1001"), names.Key(other), other)
	}
}

func TestMixedScripts(t *testing.T) {
	t.Parallel()
	for _, imitation := range []string{"Suреr", "Ѕuper", "Sυper", "Аdministrator", "P\u200b\u0430y", "Scheduler Ѕuper-User", "Ｓuреr"} {
		t.Run(imitation, func(t *testing.T) {
			t.Parallel()
			word, scripts, mixed := names.Mixed(imitation)
			assert.True(t, mixed)
			assert.Contains(t, names.Describe(word, scripts), "Latin")
		})
	}
	for _, legal := range []string{
		"", "Super", "Früh 1", "Ранняя смена", "Смена A1", "Смена Early", "Πρωί", "早番A", "カタカナとひらがな漢字", "한글漢字", "ㄅ漢A",
		"ورديّة 1", "שבת", "Ñandú", "α", "100 µg", "naïve", "Straße", "Ångström", "Nghĩa", "Ω", "Łódź", "हिन्दी",
	} {
		t.Run("legal "+legal, func(t *testing.T) {
			t.Parallel()
			word, scripts, mixed := names.Mixed(legal)
			assert.False(t, mixed, "%q %v", word, scripts)
		})
	}
}

func TestSkeletons(t *testing.T) {
	t.Parallel()
	assert.Equal(t, names.Skeleton("Copy"), names.Skeleton("Сору"), "all letters are Cyrillic")
	assert.NotEqual(t, names.Skeleton("Copy"), names.Skeleton("Copies"))
}

func FuzzNames(f *testing.F) {
	f.Add("P-1001\u200b ", "Früh")
	f.Fuzz(func(t *testing.T, name, other string) {
		clean, key := names.Clean(name), names.Key(name)
		switch {
		case names.Clean(clean) != clean:
			t.Fatalf("%q is cleaned to %q, and that to %q", name, clean, names.Clean(clean))
		case names.Key(clean) != key:
			t.Fatalf("%q has the key %q, and what is stored of it %q", name, key, names.Key(clean))
		case names.Key(key) != key:
			t.Fatalf("%q has the key %q, and that %q", name, key, names.Key(key))
		case !utf8.ValidString(clean):
			t.Fatalf("%q is no text", clean)
		}
		names.Mixed(name + other)
	})
}
