package identity

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// The product works with one broker user for each service, with the permissions that `rotaloom
// nats-permissions` prints. No user has permissions that only another service needs.
func TestServicesKeepWithinTheirPermissions(t *testing.T) {
	t.Parallel()
	d := launch.Deployed(t)
	api := scenario.API{Target: contract.Target{BaseURL: d.BaseURL, Client: d.Client, Token: launch.Login(t, d.Client, d.Ready).Token}}
	crew, err := scenario.NewCrew(t.Context(), api, 20, "2026-01-01")
	require.NoError(t, err)
	late := scenario.Pattern("LLLL---", map[string]scenario.Object{"L": scenario.Shift("Late", "14:00", "22:00", false)})
	applied, err := crew.Assign(t.Context(), api, late, "2026-03-02", "", 0)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done, err := scenario.Finish(ctx, api, applied.Propagation)
	require.NoError(t, err)
	assert.EqualValues(t, 20, done.EmployeesDone, "events went from commons over scheduling to the propagator")
	for name, p := range d.Services {
		for line := range strings.Lines(p.Output()) {
			assert.NotContains(t, strings.ToLower(line), "permissions violation", name)
		}
	}

	for name, forbidden := range map[string][]string{
		"auth":        {"rotaloom.commons.person.changed", "$JS.API.STREAM.CREATE.COMMONS"},
		"commons":     {"rotaloom.scheduling.spans.changed", "$KV.REVOCATIONS.s.x", "$JS.API.STREAM.DELETE.COMMONS", "$JS.API.STREAM.PURGE.COMMONS", "$JS.API.STREAM.UPDATE.SCHEDULING"},
		"timekeeping": {"rotaloom.commons.person.changed", "$JS.API.CONSUMER.CREATE.SCHEDULING.mine", "$JS.API.CONSUMER.DELETE.SCHEDULING.commons-spans-changed"},
		"scheduling":  {"rotaloom.commons.person.changed", "$JS.API.CONSUMER.CREATE.COMMONS.timekeeping-person-changed.rotaloom.commons.person.changed", "$JS.API.STREAM.UPDATE.KV_REVOCATIONS"},
		"propagator":  {"rotaloom.commons.person.changed", "rotaloom_replica.commons.persons.backfill"},
		"platform":    {"rotaloom.commons.person.changed", "$KV.REVOCATIONS.s.x", "$JS.API.STREAM.INFO.COMMONS"},
	} {
		t.Run(name, func(t *testing.T) {
			refused := make(chan error, 16)
			conn, err := nats.Connect(d.NATSURLFor(name), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
			require.NoError(t, err)
			defer conn.Close()
			denied := func(what string) {
				t.Helper()
				select {
				case err := <-refused:
					assert.ErrorIs(t, err, nats.ErrPermissionViolation, what)
				case <-time.After(10 * time.Second):
					t.Errorf("%s may do %s", name, what)
				}
			}
			for _, subject := range forbidden {
				require.NoError(t, conn.Publish(subject, []byte("forged")))
				denied(subject)
			}
			for _, subject := range []string{">", "rotaloom.>", "_INBOX.>", "_INBOX.other.>"} {
				_, err := conn.Subscribe(subject, func(*nats.Msg) {})
				require.NoError(t, err)
				denied(subject)
			}
		})
	}
	_, err = nats.Connect(strings.Replace(d.NATSURLFor("commons"), "commons:", "commons:not-", 1))
	require.ErrorIs(t, err, nats.ErrAuthorization)
}
