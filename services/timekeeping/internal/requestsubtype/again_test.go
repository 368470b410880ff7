package requestsubtype_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// A transaction that the database aborts runs again with the subtype that the caller sent.
func TestWritesRunAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, err := w.client.MultiReadRequestSubtypes(w.ctx, &timekeepingv1.MultiReadRequestSubtypesRequest{})
	require.NoError(t, err, "the first subtypes are stored before the trigger exists")
	for _, sql := range []string{
		`CREATE SEQUENCE attempts`, // A rollback does not reset it.
		`CREATE FUNCTION abort_every_other() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('attempts') % 2 = 1 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF; RETURN NEW; END $$`,
		`CREATE TRIGGER abort_every_other BEFORE INSERT OR UPDATE ON request_subtype FOR EACH ROW EXECUTE FUNCTION abort_every_other()`,
	} {
		_, err := pg.Unaudited("a test").Exec(w.ctx, w.pool, sql)
		require.NoError(t, err)
	}
	created, err := w.client.CreateRequestSubtype(w.ctx, swap("Again"))
	require.NoError(t, err)
	assert.Equal(t, "Again", created.GetSwapRequest().GetName())
	updated, err := w.client.UpdateRequestSubtype(w.ctx, &timekeepingv1.UpdateRequestSubtypeRequest{Id: created.GetSwapRequest().GetId(), RequestSubtype: swap("And again")})
	require.NoError(t, err)
	assert.Equal(t, "And again", updated.GetSwapRequest().GetName())
}
