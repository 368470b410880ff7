package truth

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

func TestMain(m *testing.M) { launch.MainWithCheapPasswords(m) }

var update = flag.Bool("update", false, "write docs/truth.md")

func TestPage(t *testing.T) {
	t.Parallel()
	all, err := Load()
	require.NoError(t, err)
	path := filepath.Join(launch.Root(t), "docs", "truth.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page(all)), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, page(all), string(got), "docs/truth.md differs from the cases: run `make reference` and commit it")
}

// TestExamples runs all examples on one server. A hit must have the result of its source. A miss
// must not, so that it is published as a hit when it becomes one.
func TestExamples(t *testing.T) {
	t.Parallel()
	all, err := Load()
	require.NoError(t, err)
	s := newSuite(t, scenario.API{Target: launch.Standalone(t).Target(t)})
	for _, c := range all {
		if c.Result == NotSupported {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			err := s.run(t.Context(), &c)
			if c.Result == Hit {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.Got, "docs/truth.md says that the product returns this")
		})
	}
	for _, p := range settingPages {
		settings, err := p.load()
		require.NoError(t, err)
		for i, c := range settings {
			t.Run(fmt.Sprintf("setting %s %d", c.Setting, i), func(t *testing.T) {
				t.Parallel()
				require.NoError(t, s.runSetting(t.Context(), &c), "%s has this example", p.page)
			})
		}
	}
}

// settingPages are the pages that describe settings.
var settingPages = []struct {
	page string
	load func() ([]Setting, error)
	// elsewhere are settings whose examples other tests run, and other are properties that are
	// not settings.
	elsewhere, other []string
	fields           protoreflect.FieldDescriptors
}{
	{
		page: "docs/pay-rules.md", load: LoadSettings, fields: (&timekeepingv1.PayRuleVersion{}).ProtoReflect().Descriptor().Fields(),
		elsewhere: []string{"fullDay"}, // tests/contract/cases/scheduling/time_off/day.yaml
		other:     []string{"effectiveDate"},
	},
	{
		page: "docs/accruals.md", load: LoadAccruals, fields: (&timekeepingv1.AccrualPolicy{}).ProtoReflect().Descriptor().Fields(),
		other: []string{"accrualCode"},
	},
}

// settingRow finds the settings of a row of a page.
var settingRow = regexp.MustCompile("(?m)^\\| ((?:`[A-Za-z]+`(?:, )?)+) \\|")

// TestEverySettingHasAnExample compares the contract, the pages and the examples.
func TestEverySettingHasAnExample(t *testing.T) {
	t.Parallel()
	for _, p := range settingPages {
		t.Run(p.page, func(t *testing.T) {
			t.Parallel()
			settings, err := p.load()
			require.NoError(t, err)
			run := map[string]bool{}
			for _, name := range p.elsewhere {
				run[name] = true
			}
			for _, c := range settings {
				run[c.Setting] = true
			}
			content, err := os.ReadFile(filepath.Join(launch.Root(t), p.page))
			require.NoError(t, err)
			described := map[string]bool{}
			for _, row := range settingRow.FindAllStringSubmatch(string(content), -1) {
				names := strings.Split(strings.ReplaceAll(row[1], "`", ""), ", ")
				assert.True(t, run[names[0]], "no example of %s is run", names[0])
				delete(run, names[0])
				for _, name := range names {
					described[name] = true
				}
			}
			assert.Empty(t, run, "%s has no row that begins with these settings", p.page)
			for i := range p.fields.Len() {
				if name := p.fields.Get(i).JSONName(); !slices.Contains(p.other, name) {
					assert.True(t, described[name], "%s does not describe %s", p.page, name)
				}
			}
		})
	}
}
