// Package shifttemplate manages shift templates: named shifts that patterns are built from.
// Patterns and schedules contain copies of them, so that changing or deleting a template does not
// affect them.
package shifttemplate

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/setup"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// Kind returns the declaration of shift templates.
func Kind() *setup.Kind[*schedulingv1.ShiftTemplate] {
	return setup.NewKind(setup.Declaration[*schedulingv1.ShiftTemplate]{
		Codes: patterndefinition.Codes(),
		What:  "shift template",
		Table: "shift_template",
		Strip: func(t *schedulingv1.ShiftTemplate) { t.Deleted = nil },
		Fill: func(t *schedulingv1.ShiftTemplate, _ int64) {
			t.Deleted, t.Locked, t.SystemGenerated = proto.Bool(false), proto.Bool(t.GetLocked()), proto.Bool(t.GetSystemGenerated())
		},
	})
}
