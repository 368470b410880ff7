package employmentterm

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
)

// termsAtOnce is how many terms a page tells of.
const termsAtOnce = 500

// Topic tells the terms anew, by ascending id.
func Topic() outbox.Topic {
	return outbox.Topic{Name: "employment_terms", Page: func(ctx context.Context, tx pgx.Tx, tenantID, after int64) (int64, bool, error) {
		terms, err := collect(ctx, tx, `SELECT id, version, body FROM employment_term WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
			tenantID, after, termsAtOnce)
		if err != nil || len(terms) == 0 {
			return 0, false, err
		}
		events := make([]proto.Message, len(terms))
		for i, t := range terms {
			events[i] = t.changed(false)
		}
		return terms[len(terms)-1].id, len(terms) == termsAtOnce, outbox.Append(ctx, tx, tenantID, events...)
	}}
}
