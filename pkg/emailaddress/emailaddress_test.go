package emailaddress_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/emailaddress"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"plain", "ada@example.com", true},
		{"a tag", "ada+roster@example.com", true},
		{"dots and digits", "a.b.1@mail-1.example.org", true},
		{"an intranet", "rotaloom@localhost", true},
		{"other scripts", "zoë@zürich.example", true},
		{"the longest local part", strings.Repeat("a", 64) + "@example.com", true},
		{"nothing", "", false},
		{"no domain", "ada", false},
		{"an empty domain", "ada@", false},
		{"an empty local part", "@example.com", false},
		{"two addresses", "ada@example.com, bob@example.com", false},
		{"two signs", "ada@bob@example.com", false},
		{"a name", "Ada <ada@example.com>", false},
		{"angle brackets", "<ada@example.com>", false},
		{"a comment", "ada@example.com (Ada)", false},
		{"a quoted local part", `"ada bob"@example.com`, false},
		{"a space", "ada bob@example.com", false},
		{"a space at the end", "ada@example.com ", false},
		{"another header", "ada@example.com\r\nBcc: eve@example.com", false},
		{"a line feed", "ada@example.com\nBcc: eve@example.com", false},
		{"an encoded line feed stays text", "ada%0abcc@example.com", true},
		{"a null", "ada\x00@example.com", false},
		{"a tab", "ada\t@example.com", false},
		{"a zero-width space", "ada\u200b@example.com", false},
		{"a zero-width joiner", "ada\u200d@example.com", false},
		{"a change of direction", "ada\u202e@example.com", false},
		{"a soft hyphen", "ada@exa\u00admple.com", false},
		{"a no-break space", "ada\u00a0@example.com", false},
		{"no UTF-8", "ada\xff@example.com", false},
		{"a literal address", "ada@[127.0.0.1]", false},
		{"a port", "ada@example.com:25", false},
		{"two dots in the domain", "ada@example..com", false},
		{"two dots in the local part", "ada..bob@example.com", false},
		{"a dot at the end", "ada@example.com.", false},
		{"a hyphen at the start of a label", "ada@-example.com", false},
		{"an underscore in the domain", "ada@exa_mple.com", false},
		{"a local part that is too long", strings.Repeat("a", 65) + "@example.com", false},
		{"a label that is too long", "ada@" + strings.Repeat("a", 64) + ".com", false},
		{"an address that is too long", "ada@" + strings.Repeat("a.", 126) + "com", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, emailaddress.Valid(test.text), "%q", test.text)
		})
	}
}

func FuzzValid(f *testing.F) {
	f.Add("ada@example.com")
	f.Add("a@b\r\nBcc: c@d")
	f.Fuzz(func(t *testing.T, text string) {
		if emailaddress.Valid(text) {
			assert.NotContains(t, text, "\r")
			assert.NotContains(t, text, "\n")
			assert.Equal(t, 1, strings.Count(text, "@"))
			assert.LessOrEqual(t, len(text), 254)
		}
	})
}
