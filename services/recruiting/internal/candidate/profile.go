package candidate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// profileList is a list that is a property of candidates.
type profileList interface {
	field() protoreflect.FieldDescriptor
	decode(s stored, item proto.Message) error
	insertAll(ctx context.Context, tx pgx.Tx, candidateID string, items protoreflect.List, found *fault.List)
}

// profileSegments are the last parts of the paths of the lists that are properties of candidates, in the
// order of the checks of a new candidate.
var profileSegments = slices.Sorted(maps.Keys(profile))

// profile has the lists that are properties of candidates, by the last part of their paths.
var profile = map[string]profileList{
	behaviors.segment: behaviors, educations.segment: educations, motivations.segment: motivations,
	licenses.segment: licenses, skills.segment: skills, workExperience.segment: workExperience,
}

// takeProfile removes the lists from a new candidate, and returns a copy with them.
func takeProfile(c *candidate) *candidate {
	taken := proto.CloneOf(c)
	for _, l := range profile {
		c.ProtoReflect().Clear(l.field())
	}
	return taken
}

// insertProfile stores the lists of a new candidate.
func insertProfile(ctx context.Context, tx pgx.Tx, candidateID string, c *candidate) error {
	found := &fault.List{}
	for _, segment := range profileSegments {
		l := profile[segment]
		if l.insertAll(ctx, tx, candidateID, c.ProtoReflect().Get(l.field()).List(), found); found.Stopped() {
			break
		}
	}
	return found.Err()
}

// Profiles sets the lists of candidates: behaviors, educations, motivations, licenses, skills and work
// experience. The keys are the ids of the candidates.
func Profiles(ctx context.Context, db pg.Querier, candidates map[string]*candidate) error {
	batch := &pgx.Batch{}
	QueueProfiles(ctx, batch, slices.Collect(maps.Keys(candidates)), candidates)
	return db.SendBatch(ctx, batch).Close()
}

// QueueProfiles queues a statement that sets the lists of the candidates with these ids, like [Profiles].
// The statements before it in the batch may fill the map.
func QueueProfiles(ctx context.Context, batch *pgx.Batch, ids []string, candidates map[string]*candidate) {
	batch.Queue("SELECT "+itemColumns+" FROM candidate_item WHERE tenant_id = $1 AND candidate_id = ANY($2::uuid[]) AND list = ANY($3) ORDER BY number",
		tenant.Of(ctx), ids, profileSegments).Query(func(rows pgx.Rows) error {
		items, err := pgx.CollectRows(rows, scanItem)
		if err != nil {
			return fmt.Errorf("read the lists of candidates: %w", err)
		}
		for _, s := range items {
			if err := addItem(candidates[s.candidateID], s); err != nil {
				return err
			}
		}
		return nil
	})
}

// addItem adds a stored item to a list of its candidate. It ignores an item of an unknown candidate.
func addItem(to *candidate, s stored) error {
	if to == nil {
		return nil
	}
	l := profile[s.segment]
	items := to.ProtoReflect().Mutable(l.field()).List()
	item := items.NewElement()
	if err := l.decode(s, item.Message().Interface()); err != nil {
		return err
	}
	items.Append(item)
	return nil
}
