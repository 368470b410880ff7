package propagation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestExplain(t *testing.T) {
	w := newWorld(t)
	conn, err := w.pool.Acquire(w.ctx)
	require.NoError(t, err)
	defer conn.Release()
	show := func(name, types, sql, args string) {
		_, err := conn.Exec(w.ctx, "SET plan_cache_mode = force_generic_plan")
		require.NoError(t, err)
		conn.Exec(w.ctx, "DEALLOCATE ALL")
		_, err = conn.Exec(w.ctx, "PREPARE q("+types+") AS "+sql)
		require.NoError(t, err)
		rows, err := conn.Query(w.ctx, "EXPLAIN EXECUTE q("+args+")", pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		fmt.Println("==", name)
		for _, l := range lines {
			if strings.Contains(l, "->") || strings.Contains(l, "Cond") || strings.Contains(l,"Sort ") {
				fmt.Println(l[:min(len(l), 160)])
			}
		}
	}
	all := func(title string) {
		fmt.Println("########", title)
		r := "bigint,bigint[],bigint[]"
		show("memberships", r, readMemberships, "1,'{1}','{1000}'")
		show("own", r, readOwnAssignments, "1,'{1}','{1000}'")
		show("spans", r, readSpans, "1,'{1}','{1000}'")
		show("hidden", r, readHidden, "1,'{1}','{1000}'")
		show("move", "bigint,bigint[],smallint[],int[]", moveToPast, "1,'{1}','{1}','{1}'")
	}
	all("fresh")
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, benchEmployees)...)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	w.apply(w.start(Request{Cause: CausePattern, TermIDs: []int64{5}}))
	all("filled, not analysed")
	w.exec("ANALYZE")
	all("analysed")
}
