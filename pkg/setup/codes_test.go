package setup_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestNames(t *testing.T) {
	t.Parallel()
	codes := setup.Codes{Missing: "missing", Invalid: "invalid", TooLong: "too long"}
	for _, test := range []struct{ name, given, code string }{
		{"a name", "Early", ""},
		{"the longest name", strings.Repeat("é", 250), ""},
		{"no name", "", "missing"},
		{"blanks", " \t", "missing"},
		{"a name that is too long", strings.Repeat("é", 251), "too long"},
		{"a control character", "a\x07b", "invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := codes.CheckName("thing", test.given)
			if test.code == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Equal(t, test.code, fault.FromError(err).Code)
		})
	}
}

// A declaration that does not fit its message fails when the program starts.
func TestWrongDeclarations(t *testing.T) {
	t.Parallel()
	target := setup.NewKind(setup.Declaration[*timekeepingv1.PayCode]{What: "pay code", Table: "pay_code"})
	for name, d := range map[string]setup.Declaration[*timekeepingv1.PayRule]{
		"an unknown property":     {References: []setup.Reference{{Field: "effective_versions.nothing", To: target}}},
		"a path that leads on":    {References: []setup.Reference{{Field: "name.id", To: target}}},
		"a property without id":   {References: []setup.Reference{{Field: "effective_versions", To: target}}},
		"an unknown unique text":  {Unique: []string{"nothing"}},
		"a unique text of a list": {Unique: []string{"effective_versions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Panics(t, func() { setup.NewKind(d) })
		})
	}
}

func TestMain(m *testing.M) { pgtest.Main(m) }
