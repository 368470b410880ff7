package password

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		password   string
		privileged bool
		code       string
	}{
		"one character":                   {"a", false, CodeShort},
		"none":                            {"", false, CodeUnfit},
		"one too few":                     {"kzqwvx7", false, CodeShort},
		"just enough":                     {"kzqwvx7m", false, ""},
		"characters count, not bytes":     {"zäöüñçé", false, CodeShort},
		"eight of several bytes":          {"zäöüñçéß", false, ""},
		"no digits, no capitals":          {"lampshade under water", false, ""},
		"one too few of an administrator": {"kzqwvx7mpl-tuo", true, CodeShort},
		"enough of an administrator":      {"kzqwvx7mpl-tuor", true, ""},
		"64 characters":                   {strings.Repeat("lamp5had", 8)[:60] + "wxyz", true, ""},
		"the longest":                     {strings.Repeat("x", maxBytes-8) + "kzqwv7mp", true, ""},
		"too long":                        {strings.Repeat("x", maxBytes-7) + "kzqwv7mp", true, CodeUnfit},
		"a control character":             {"kzqwvx7m\x00pl-tu", false, CodeUnfit},
		"common":                          {"iloveyou", false, CodeCommon},
		"common in other case":            {"ILoveYou", false, CodeCommon},
		"common in wide letters":          {"ｐａｓｓｗｏｒｄ", false, CodeCommon},
		"common with more around":         {"!Password2026!", false, CodeCommon},
		"a common one with words":         {"password of the lamp", false, ""},
		"the user name":                   {"Ada.Okafor", false, CodeCommon},
		"the user name and a year":        {"ada.okafor2026", false, CodeCommon},
		"one character, often":            {"mmmmmmmmmmmmmmmm", true, CodeCommon},
		"two, often":                      {"mnmnmnmnmnmnmnmn", true, CodeCommon},
		"a run":                           {"abcdefghijklmnop", true, CodeCommon},
		"a run backwards":                 {"98765432", false, CodeCommon},
		"a short word, often":             {"kzqwkzqwkzqwkzqw", true, CodeCommon},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := Check(c.password, "Ada.Okafor", c.privileged)
			if c.code == "" {
				assert.Nil(t, f)
				return
			}
			require.NotNil(t, f)
			assert.Equal(t, c.code, f.Code)
			assert.Equal(t, 400, f.Status)
			if c.password != "" && len(c.password) > 3 {
				assert.NotContains(t, f.Message, c.password)
			}
		})
	}
	assert.Greater(t, len(isCommon()), 11_000)
}

// A name without letters is guessed as it is.
func TestAUserNameOfDigitsIsGuessed(t *testing.T) {
	t.Parallel()
	const digits = "7192840365"
	assert.Nil(t, Check(digits, "somebody", false))
	assert.Nil(t, Check(digits, "", false))
	if f := Check(digits, digits, false); assert.NotNil(t, f) {
		assert.Equal(t, CodeCommon, f.Code)
	}
}

func TestAsFewCharactersAsMayBe(t *testing.T) {
	t.Parallel()
	const letters = "kzqwvxmptu"
	least := letters[:minDifferent]
	assert.False(t, guessable(least+letters[1:minDifferent]+letters[:2], ""))
	assert.True(t, guessable(least[1:]+letters[1:minDifferent-1]+letters[1:3], ""))
}

func TestLong(t *testing.T) {
	t.Parallel()
	assert.True(t, Long(strings.Repeat("ä", MinPrivileged)))
	assert.False(t, Long(strings.Repeat("ä", MinPrivileged-1)))
	assert.False(t, Long(strings.Repeat("a", MinPrivileged)+"\x00"))
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"abc": false, "abab": true, "aaaaaaaa": true, "abcdefgabcdefg": true,
		"abcdefghabcdefgh": false, // A repetition of eight characters is long enough.
		"abcdefgabcdef":    false,
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, repeats(text), text)
		})
	}
}

// The same characters may be typed in two ways.
func TestPasswordsAreComparedInOneForm(t *testing.T) {
	t.Parallel()
	h, err := New(quick, 1, 0)
	require.NoError(t, err)
	hash, err := h.Hash(t.Context(), "cafe\u0301 noir\u00a0x")
	require.NoError(t, err)
	same, err := h.Matches(t.Context(), hash, "café noir x")
	require.NoError(t, err)
	assert.True(t, same)
	_, err = h.Hash(t.Context(), "a\x00b")
	assert.True(t, fault.HasCode(err, CodeUnfit), err)
}
