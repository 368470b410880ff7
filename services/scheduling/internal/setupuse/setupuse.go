// Package setupuse finds the entries, patterns and templates of schedules, and the tag definitions, that refer to
// setup, such as pay codes, work rules and tag definitions.
package setupuse

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// items are the kinds of entries that refer to the objects of a kind. Schedules refer to no objects of other
// kinds.
var items = map[setupref.Property][]string{
	setupref.PayCode:       {itemstore.KindPayCodeEdit},
	setupref.WorkRule:      {itemstore.KindShift, itemstore.KindPayCodeEdit, itemstore.KindScheduleTag},
	setupref.TagDefinition: {itemstore.KindShift, itemstore.KindScheduleTag},
}

// The kinds of bodies that are not entries or patterns.
const (
	kindShiftTemplate = "SHIFT_TEMPLATE"
	kindTagDefinition = "TAG_DEFINITION"
)

// statements return users of objects as subjects of messages, with the kinds of entries, and the bodies. Entries
// that a change of a pattern has withdrawn are on no schedule, so that no request could change them.
var statements = []string{`
SELECT CASE WHEN i.employee_id IS NULL THEN format('The open entry on %s', i.from_day)
            ELSE format('The schedule of the employee "%s" on %s', coalesce(e.person_number, i.employee_id::text), i.from_day) END, i.kind, i.body
FROM schedule_item i LEFT JOIN employee e ON e.tenant_id = $1 AND e.id = i.employee_id
WHERE i.tenant_id = $1 AND i.kind = ANY($4) AND NOT i.deleted AND NOT i.withdrawn AND ` + mayRefer("i.body") + ` ORDER BY i.id`, `
SELECT DISTINCT ON (p.id) CASE WHEN a.employee_id IS NULL
            THEN format('A schedule pattern of the employment term "%s"', coalesce(t.name, a.employment_term_id::text))
            ELSE format('A schedule pattern of the employee "%s"', coalesce(e.person_number, a.employee_id::text)) END, '', p.body
FROM schedule_pattern p
JOIN pattern_assignment a ON a.tenant_id = $1 AND a.pattern_id = p.id AND a.believed_until = 'infinity'
LEFT JOIN employment_term t ON t.tenant_id = $1 AND t.id = a.employment_term_id
LEFT JOIN employee e ON e.tenant_id = $1 AND e.id = a.employee_id
WHERE p.tenant_id = $1 AND $4::text[] IS NOT NULL AND ` + mayRefer("p.body") + ` ORDER BY p.id, a.id`, `
SELECT format('The schedule pattern template "%s"', name), '', body FROM schedule_pattern_template
WHERE tenant_id = $1 AND $4::text[] IS NOT NULL AND ` + mayRefer("body") + ` ORDER BY id`, `
SELECT format('The shift template "%s"', name), '` + kindShiftTemplate + `', body FROM shift_template
WHERE tenant_id = $1 AND $4::text[] IS NOT NULL AND ` + mayRefer("body") + ` ORDER BY id`, `
SELECT format('The tag definition "%s"', name), '` + kindTagDefinition + `', body FROM tag_definition
WHERE tenant_id = $1 AND $4::text[] IS NOT NULL AND ` + mayRefer("body") + ` ORDER BY id`}

// mayRefer returns a condition for bodies that may have the reference: $2 has the bytes of the id, and $3 is a
// part of the name in lower case. The escape format keeps ASCII characters except the backslash.
func mayRefer(body string) string {
	return fmt.Sprintf(`(position($2::bytea IN %s) > 0 OR position($3 IN lower(encode(%[1]s, 'escape') COLLATE "C")) > 0)`, body)
}

// Find returns an entry, a pattern, a template or a tag definition that refers to an object, as the subject of
// a message; without any it returns "". With the id 0, names count only.
func Find(ctx context.Context, db pg.Querier, to setupref.Property, id int64, name string) (found string, err error) {
	kinds := items[to]
	if kinds == nil {
		return "", nil
	}
	var inBody []byte // NULL is in no body.
	if id != 0 {
		if inBody, err = proto.Marshal(&commonv1.Ref{Id: &id}); err != nil {
			return "", err
		}
	}
	var user, kind string
	var body []byte
	for _, sql := range statements {
		if err := pg.ForEach(ctx, db, []any{&user, &kind, &body}, func() error {
			message := newMessage(kind)
			if err := proto.Unmarshal(body, message); err != nil {
				return err
			}
			if found == "" && setupref.RefersTo(message.ProtoReflect(), to, id, name) {
				found = user
			}
			return nil
		}, sql, tenant.Of(ctx), inBody, longestASCII(strings.ToLower(name)), kinds); err != nil {
			return "", fmt.Errorf("find schedules that refer to the %s %d: %w", to, id, err)
		}
		if found != "" {
			break
		}
	}
	return found, nil
}

// newMessage returns an empty message of a kind of bodies; "" is a pattern.
func newMessage(kind string) proto.Message {
	switch kind {
	case itemstore.KindShift:
		return &schedulingv1.Shift{}
	case itemstore.KindPayCodeEdit:
		return &schedulingv1.PayCodeEdit{}
	case itemstore.KindScheduleTag:
		return &schedulingv1.ScheduleTag{}
	case kindShiftTemplate:
		return &schedulingv1.ShiftTemplate{}
	case kindTagDefinition:
		return &schedulingv1.TagDefinition{}
	}
	return &schedulingv1.SchedulePattern{}
}

// longestASCII returns the longest part of a text of ASCII characters without a backslash.
func longestASCII(text string) (longest string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= 0x80 || r == '\\' || r == 0 }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}
