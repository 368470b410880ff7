package acceptlanguage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/language"
	"google.golang.org/grpc/metadata"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	available := []string{"de", "fr-CA", "pt-BR"}
	tests := []struct {
		name, header string
		want         int
	}{
		{"an empty header", "", -1},
		{"the language itself", "de", 0},
		{"a region of it", "de-CH", 0},
		{"a language of a region", "fr-CA", 1},
		{"the better of two", "de;q=0.5, fr-CA", 1},
		{"another one", "ja", -1},
		{"a second choice", "ja, de;q=0.1", 0},
		{"refused", "de;q=0", -1},
		{"garbage", "\x00;;;q=x", -1},
		{"a language that is only near", "nl", -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("accept-language", test.header))
			assert.Equal(t, test.want, From(ctx).Choose(available))
		})
	}
	t.Run("no header", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, -1, From(t.Context()).Choose(available))
	})
	t.Run("nothing to choose from", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, -1, Preferences{language.German}.Choose(nil))
	})
}

func TestTheFirstHeaderThatCanBeReadCounts(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"", "\x00;;;q=x", "de"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			md := metadata.Pairs("accept-language", first, "accept-language", "de", "accept-language", "fr")
			assert.Equal(t, Preferences{language.German}, From(metadata.NewIncomingContext(t.Context(), md)))
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"DE": "de", "fr-ca": "fr-CA", "": "", "und": "", "not a tag": "", "x": ""} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, ok := Parse(text)
			assert.Equal(t, want, got)
			assert.Equal(t, want != "", ok)
		})
	}
}
