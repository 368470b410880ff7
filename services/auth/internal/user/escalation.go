package user

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
)

// refuseEscalation prevents callers from granting more than they may do, and from taking over (with a new
// password) or removing the account of a user who may do more. A service without a user may do everything. The
// error lists the affected users in details.error-offsets, and an entry with the reason for each user in
// details.results.
func (h *Handler) refuseEscalation(ctx context.Context, users []*authv1.User) error {
	assignments := make([]profile.Assignment, len(users))
	for i, u := range users {
		assignments[i] = profile.Assignment{PersonID: u.GetPersonId(), Profile: u.GetAccessProfile()}
	}
	refused, err := profile.CheckAssignments(ctx, h.pool, h.permissions, assignments)
	if err != nil {
		return err
	}
	return bulkError(refused)
}

// bulkError returns the first error of a list, with details of all errors, or nil.
func bulkError(refused []*fault.Error) error {
	var first *fault.Error
	details := &commonv1.ErrorDetails{Results: make([]*commonv1.BulkResult, len(refused))}
	for i, f := range refused {
		details.Results[i] = &commonv1.BulkResult{}
		if f == nil {
			continue
		}
		if first == nil {
			first = f
		}
		details.ErrorOffsets = append(details.ErrorOffsets, int32(i))
		details.Results[i].Error = &commonv1.ErrorBody{ErrorCode: f.Code, Message: f.Message}
	}
	if first == nil {
		return nil
	}
	return fault.New(first.Code, first.Status, first.Message).WithDetails(details)
}

// endOtherProfiles revokes the tokens of users who get a different access profile, because their tokens contain
// the old permissions.
func (h *Handler) endOtherProfiles(ctx context.Context, tx pg.Querier, users []*authv1.User) error {
	_, persons := columns(users)
	profiles := make([]string, len(users))
	for i, u := range users {
		profiles[i] = u.GetAccessProfile()
	}
	return revoked.OtherProfiles(ctx, tx, persons, profiles, h.clock.Now())
}
