// Package shifttemplate keeps shift templates: named shifts that patterns are
// built from. Patterns and schedules hold copies of them, so that changing or
// deleting one touches neither.
package shifttemplate

import (
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/namedstore"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// Store keeps shift templates. Patterns look them up there.
type Store = namedstore.Store[*schedulingv1.ShiftTemplate]

// NewStore returns the store of shift templates.
func NewStore() *Store {
	return namedstore.NewStore(namedstore.Kind[*schedulingv1.ShiftTemplate]{
		Codes: patterndefinition.Codes(),
		What:  "shift template",
		Table: "shift_template",
		Strip: func(t *schedulingv1.ShiftTemplate) { t.Deleted = nil },
		Fill: func(t *schedulingv1.ShiftTemplate, version int64) {
			t.Version, t.Deleted = strconv.FormatInt(version, 10), proto.Bool(false)
			t.Locked, t.SystemGenerated = proto.Bool(t.GetLocked()), proto.Bool(t.GetSystemGenerated())
		},
	})
}

// prepare checks a template and returns it in the form in which it is stored.
func prepare(rules patterndefinition.Rules, path string, given *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplate, error) {
	if given == nil {
		return nil, patterndefinition.Missing(path)
	}
	t := proto.CloneOf(given)
	if err := patterndefinition.Codes().CheckName(path, t.GetName()); err != nil {
		return nil, err
	}
	return t, rules.Shift(path, t)
}
