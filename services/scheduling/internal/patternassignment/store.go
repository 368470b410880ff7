package patternassignment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// selectOwners finds the owners of assignments. An assignment never changes its owner, and is
// deleted with it.
const selectOwners = `
SELECT DISTINCT a.%[1]s FROM pattern_assignment a
JOIN %[2]s t ON t.tenant_id = a.tenant_id AND t.id = a.%[1]s
WHERE a.tenant_id = $1 AND a.id = ANY($2) AND a.believed_until = 'infinity'`

// visibleOwners returns the owners of assignments, limited to those that the caller may see.
func (k *Kind) visibleOwners(ctx context.Context, db pg.Querier, ids []int64, visible rowvisibility.Set) ([]int64, error) {
	owners, err := pg.Collect(ctx, db, pgx.RowTo[int64], k.selectOwners, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("patternassignment: find owners: %w", err)
	}
	return slices.DeleteFunc(owners, func(id int64) bool { return !visible.Has(id) }), nil
}

// selectVersions reads versions of assignments: the current one by id, the current or earlier ones
// of some owners that overlap a window, or those that a propagation made or ended. A deleted
// propagation has finished.
const selectVersions = `
SELECT a.id, a.version, a.%[1]s, t.name, t.allows_inheritance, a.from_date, a.to_date, a.pattern_id, a.day_count,
       a.anchor, a.start_date_offset, a.override, a.lane, a.seq, coalesce(a.lineage_id, a.id), a.entries_per_day, coalesce(p.state = 'FINISHED', true),
       a.propagation_id
FROM pattern_assignment a
JOIN %[2]s t ON t.tenant_id = a.tenant_id AND t.id = a.%[1]s
LEFT JOIN propagation p ON p.tenant_id = a.tenant_id AND p.id = a.propagation_id
WHERE a.tenant_id = $1 AND `

const (
	isCurrent    = `a.believed_until = 'infinity'`
	inWindow     = ` AND a.%[1]s = ANY($2) AND a.from_date < $4 AND a.to_date > $3 ORDER BY a.%[1]s, a.from_date, a.id LIMIT $5`
	selectOne    = selectVersions + isCurrent + ` AND a.id = $2`
	selectWindow = selectVersions + isCurrent + inWindow
	// selectPast reads the versions that were believed at the time $6.
	selectPast = selectVersions + `a.believed_from <= $6 AND a.believed_until > $6` + inWindow
	// While programs are replaced, those of the release before do not store what ended a version. The
	// time of the change is then the only trace.
	selectChanged = selectVersions + `a.id IN (SELECT id FROM pattern_assignment WHERE tenant_id = $1 AND (propagation_id = $2 OR ended_by = $2))
    AND (a.propagation_id = $2 OR a.ended_by = $2 OR a.ended_by IS NULL AND a.believed_until IN (
        SELECT believed_from FROM pattern_assignment WHERE tenant_id = $1 AND propagation_id = $2))
ORDER BY a.id, a.version`
)

// one reads an assignment by id. The list is empty if it does not exist.
func (k *Kind) readOne(ctx context.Context, db pg.Querier, id int64) ([]assignment, error) {
	rows, err := db.Query(ctx, k.selectOne, tenant.Of(ctx), id)
	return k.collect(rows, err)
}

// hired returns the known hire dates of owners.
func (k *Kind) hireDates(ctx context.Context, db pg.Querier, owners []int64) (map[int64]civil.Date, error) {
	if k.selectHired == "" {
		return nil, nil
	}
	hired := map[int64]civil.Date{}
	var id int64
	var date civil.Date
	err := pg.ForEach(ctx, db, []any{&id, &date}, func() error {
		hired[id] = date
		return nil
	}, k.selectHired, tenant.Of(ctx), owners)
	if err != nil {
		return nil, fmt.Errorf("patternassignment: read hire dates: %w", err)
	}
	return hired, nil
}

// maxRead limits the assignments, or versions of them, that one request reads.
const maxRead = 50_000

// current reads the assignments of owners with a day in the window, by owner and first day.
func (k *Kind) current(ctx context.Context, db pg.Querier, owners []int64, window civil.Range) ([]assignment, error) {
	rows, err := db.Query(ctx, k.selectWindow, tenant.Of(ctx), owners, window.From, window.To, maxRead+1)
	list, err := k.collect(rows, err)
	if err == nil {
		err = k.checkRead(len(list))
	}
	return list, err
}

// past reads the assignments that owners had at a settled instant, with a day in the window, by
// owner and first day.
func (k *Kind) past(ctx context.Context, db pg.Querier, owners []int64, window civil.Range, at time.Time) ([]assignment, error) {
	rows, err := db.Query(ctx, k.selectPast, tenant.Of(ctx), owners, window.From, window.To, maxRead+1, at)
	list, err := k.collect(rows, err)
	if err == nil {
		err = k.checkRead(len(list))
	}
	return list, err
}

func (k *Kind) checkRead(n int) error {
	if n <= maxRead {
		return nil
	}
	return fault.TooLarge(fault.CodeItemLimit,
		fmt.Sprintf("The request affects more than %d assignments. Name fewer %s.", maxRead, k.owners))
}

func (k *Kind) collect(rows pgx.Rows, err error) ([]assignment, error) {
	if err != nil {
		return nil, fmt.Errorf("patternassignment: read assignments: %w", err)
	}
	var list []assignment
	a := assignment{ofEmployee: k.ofEmployees}
	var from, to, anchor civil.Date
	_, err = pgx.ForEachRow(rows, []any{
		&a.id, &a.version, &a.ownerID, &a.ownerName, &a.inherits, &from, &to, &a.patternID, &a.dayCount,
		&anchor, &a.offset, &a.override, &a.lane, &a.seq, &a.lineage, &a.entriesPerDay, &a.applied,
		&a.propagationID,
	}, func() error {
		a.days = civil.Range{From: from, To: to}
		a.anchor = anchor
		list = append(list, a)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("patternassignment: read assignments: %w", err)
	}
	return list, nil
}

// nextNumbers allocates the time of a change, new ids, and sequence numbers. It runs under the
// locks of the owners, because the start time of the transaction can be before the change that it
// waited for.
const nextNumbers = `
SELECT change_time(),
       ARRAY(SELECT nextval('pattern_assignment_id') FROM generate_series(1, $1)),
       ARRAY(SELECT nextval('pattern_assignment_seq') FROM generate_series(1, $2))`

// number assigns missing ids and sequence numbers, and increments the version of each changed
// assignment. It returns the time of the change.
func number(ctx context.Context, tx pgx.Tx, edits []edit) (time.Time, error) {
	var newIDs, newSeqs []*int64
	for i := range edits {
		if !edits[i].changes() {
			continue
		}
		for k := range edits[i].after {
			a := &edits[i].after[k]
			a.applied = false
			a.version++
			if a.id == 0 {
				a.version = 1
				newIDs = append(newIDs, &a.id)
			}
			if a.seq == 0 {
				newSeqs = append(newSeqs, &a.seq)
			}
		}
	}
	var at time.Time
	var ids, seqs []int64
	if err := tx.QueryRow(ctx, nextNumbers, len(newIDs), len(newSeqs)).Scan(&at, &ids, &seqs); err != nil {
		return time.Time{}, fmt.Errorf("patternassignment: draw numbers: %w", err)
	}
	for i, into := range newIDs {
		*into = ids[i]
	}
	for i, into := range newSeqs {
		*into = seqs[i]
	}
	for i := range edits {
		for k := range edits[i].after {
			if a := &edits[i].after[k]; a.lineage == 0 {
				a.lineage = a.id
			}
		}
	}
	return at, nil
}

const endVersions = `
UPDATE pattern_assignment SET believed_until = $3, ended_by = $4
WHERE tenant_id = $1 AND id = ANY($2) AND believed_until = 'infinity'`

// end ends the current versions of assignments by the change of a propagation. Their data stays.
func end(ctx context.Context, tx pgx.Tx, propagationID int64, at time.Time, ids []int64) error {
	done, err := tx.Exec(ctx, endVersions, tenant.Of(ctx), ids, at, propagationID)
	if err == nil && done.RowsAffected() != int64(len(ids)) {
		err = fmt.Errorf("%d of %d versions were current", done.RowsAffected(), len(ids))
	}
	if err != nil {
		return fmt.Errorf("patternassignment: end versions: %w", err)
	}
	return nil
}

const insertVersions = `
INSERT INTO pattern_assignment (
    tenant_id, propagation_id, believed_from, id, version, %[1]s, from_date, to_date,
    pattern_id, day_count, anchor, start_date_offset, override, lane, seq, lineage_id, entries_per_day)
SELECT $1, $2, $3, v.*
FROM unnest($4::bigint[], $5::int[], $6::bigint[], $7::date[], $8::date[], $9::bigint[], $10::int[], $11::date[],
            $12::int[], $13::boolean[], $14::smallint[], $15::bigint[], $16::bigint[], $17::int[]) AS v`

// insert stores versions of assignments.
func (k *Kind) insert(ctx context.Context, tx pgx.Tx, propagationID int64, at time.Time, list []assignment) error {
	n := len(list)
	ids, owners, patterns, seqs := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	versions, dayCounts, offsets := make([]int32, n), make([]int32, n), make([]int32, n)
	from, to, anchors := make([]civil.Date, n), make([]civil.Date, n), make([]civil.Date, n)
	overrides, lanes := make([]bool, n), make([]int16, n)
	lineages, entries := make([]int64, n), make([]int32, n)
	for i, a := range list {
		ids[i], versions[i], owners[i], patterns[i], seqs[i] = a.id, a.version, a.ownerID, a.patternID, a.seq
		from[i], to[i], anchors[i] = a.days.From, a.days.To, a.anchor
		dayCounts[i], offsets[i], overrides[i], lanes[i] = a.dayCount, a.offset, a.override, int16(a.lane)
		lineages[i], entries[i] = a.lineage, a.entriesPerDay
	}
	_, err := tx.Exec(ctx, k.insertVersions, tenant.Of(ctx), propagationID, at, ids, versions, owners, from, to,
		patterns, dayCounts, anchors, offsets, overrides, lanes, seqs, lineages, entries)
	if err != nil {
		return fmt.Errorf("patternassignment: insert versions: %w", err)
	}
	return nil
}
