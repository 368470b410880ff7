// Package assignmenthistory describes the versions of the assignments of schedule patterns, and the
// propagations that applied them.
package assignmenthistory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// selectVersions reads every version of the owners' assignments with a day in the window, and the
// state of its propagation. The owner column is filled in. Rows are ordered by version.
const selectVersions = `
SELECT a.id, a.version, a.%[1]s, a.from_date, a.to_date, a.pattern_id, a.override,
       a.believed_from, nullif(a.believed_until, 'infinity'),
       EXISTS (SELECT FROM pattern_assignment n
               WHERE n.tenant_id = a.tenant_id AND n.id = a.id AND n.version = a.version + 1),
       a.propagation_id, coalesce(p.state, ''), coalesce(p.employees_done, 0),
       coalesce(p.skipped_locked, 0), coalesce(p.skipped_cut_loose, 0), p.finished_at
FROM pattern_assignment a
LEFT JOIN propagation p ON p.tenant_id = a.tenant_id AND p.id = a.propagation_id
WHERE a.tenant_id = $1 AND a.%[1]s = ANY($2) AND a.from_date < $4 AND a.to_date > $3
ORDER BY a.%[1]s, a.id, a.version LIMIT $5`

// version is a version of an assignment with its propagation.
type version struct {
	id, ownerID, patternID int64
	number                 int32
	days                   civil.Range
	override               bool
	// The times of the changes that started and ended it.
	from  time.Time
	until *time.Time
	// continued reports whether another version replaced it.
	continued bool

	propagationID     int64
	state             string
	employees         int64
	locked, detached  int64
	propagationFinish *time.Time
}

// Reader reads the history of the assignments of one kind of owners. It is safe for concurrent use.
type Reader struct{ sql string }

// NewReader returns the Reader for the owners in a column of pattern_assignment.
func NewReader(column string) *Reader { return &Reader{fmt.Sprintf(selectVersions, column)} }

// Read returns the versions of the owners' assignments with a day in the window, at most limit. They
// are ordered by owner, assignment and version.
func (r *Reader) Read(ctx context.Context, db pg.Querier, owners []int64, window civil.Range, limit int) ([]*schedulingv1.GroupSchedulePatternHistory, error) {
	var list []*schedulingv1.GroupSchedulePatternHistory
	var v version
	var from, to civil.Date
	err := pg.ForEach(ctx, db, []any{
		&v.id, &v.number, &v.ownerID, &from, &to, &v.patternID, &v.override, &v.from, &v.until, &v.continued,
		&v.propagationID, &v.state, &v.employees, &v.locked, &v.detached, &v.propagationFinish,
	}, func() error {
		v.days = civil.Range{From: from, To: to}
		row, err := v.message()
		list = append(list, row)
		return err
	}, r.sql, tenant.Of(ctx), owners, window.From, window.To, limit)
	if err != nil {
		return nil, fmt.Errorf("assignmenthistory: read: %w", err)
	}
	return list, nil
}

// versionBits is the number of bits of a history id for the version. The id has at most 53 bits, so
// that it stays exact for clients that store numbers as doubles.
const versionBits = 20

func (v *version) message() (*schedulingv1.GroupSchedulePatternHistory, error) {
	report, err := json.Marshal(v.report())
	if err != nil {
		return nil, err
	}
	reported := v.from
	if v.propagationFinish != nil {
		reported = *v.propagationFinish
	}
	return &schedulingv1.GroupSchedulePatternHistory{
		Id:                     proto.Int64(v.id<<versionBits | int64(v.number)),
		GroupId:                proto.Int64(v.ownerID),
		GroupSchedulePatternId: proto.Int64(v.id),
		Error:                  proto.Bool(v.state == propagation.StateFailed),
		Report:                 string(report),
		ReportDate:             civil.FromTime(reported.UTC()).String(),
		TransactionDateTime:    moment(v.from),
	}, nil
}

// report describes the version, its propagation, and its end.
func (v *version) report() []string {
	adds := "adds to"
	if v.override {
		adds = "replaces"
	}
	lines := []string{fmt.Sprintf("Version %d has %s; its pattern %d %s the patterns below.",
		v.number, v.days.Words(), v.patternID, adds)}
	if v.state != "" {
		lines = append(lines, fmt.Sprintf("Propagation %d is %s for %d employees.", v.propagationID, v.state, v.employees))
	}
	if v.locked > 0 {
		lines = append(lines, fmt.Sprintf("Locked days of %d employees were not changed.", v.locked))
	}
	if v.detached > 0 {
		lines = append(lines, fmt.Sprintf("Manually changed entries of %d employees were kept.", v.detached))
	}
	if v.until != nil {
		ended := "removed"
		if v.continued {
			ended = fmt.Sprintf("replaced by version %d", v.number+1)
		}
		lines = append(lines, fmt.Sprintf("It was %s on %s.", ended, moment(*v.until)))
	}
	return lines
}

// moment formats an instant in UTC, with whole seconds.
func moment(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05") }
