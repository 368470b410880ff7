package offer

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Export adds the offers of the applications of an export, with their actions.
func Export(ctx context.Context, db pg.Querier, out *recruitingv1.CandidateExport) error {
	for _, a := range out.GetApplications() {
		list, err := offers.All(ctx, db, application.Of(a.GetApplication().GetId()), "ORDER BY r.created_at, r.id")
		if err != nil {
			return err
		}
		for _, r := range list {
			taken, err := actions.All(ctx, db, limitToOffer(r.ID), "ORDER BY r.changed")
			if err != nil {
				return err
			}
			e := &recruitingv1.OfferExport{Offer: show(r)}
			for _, action := range taken {
				e.Actions = append(e.Actions, showAction(r.ID, action))
			}
			a.Offers = append(a.Offers, e)
		}
	}
	return nil
}

// Erase removes the terms of the offers for the applications of a candidate, and the comments of their
// actions. For statistics, the statuses and times remain.
func Erase(ctx context.Context, tx pgx.Tx, candidateID string) error {
	made := application.OfCandidate(candidateID)
	err := offers.Rewrite(ctx, tx, made, func(o *offer) *offer {
		return &offer{Application: o.GetApplication(), Status: o.GetStatus(), ExpirationDate: o.GetExpirationDate(), Creator: o.GetCreator()}
	})
	if err != nil {
		return err
	}
	taken := record.Condition{SQL: "r.offer_id IN (SELECT o.id FROM offer o JOIN application a ON a.tenant_id = o.tenant_id AND a.id = o.application_id WHERE o.tenant_id = r.tenant_id AND a.candidate_id = @candidate)", Args: made.Args}
	return actions.Rewrite(ctx, tx, taken, func(a *action) *action {
		return &action{Action: a.GetAction(), Author: a.GetAuthor(), OriginStatus: a.GetOriginStatus(), DestinationStatus: a.GetDestinationStatus()}
	})
}
