package replica

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// maxDirectSettle is how long a comparison without a broker waits for events on their way.
const maxDirectSettle = 10 * time.Second

// CountDifferencesFrom returns how many keys of a tenant are missing in the copy or differ from the
// owner. It reads the owner's database itself: commands of operators reach both databases, but no
// broker. It waits some seconds for events on their way. It changes nothing.
func (r *Replica) CountDifferencesFrom(ctx context.Context, topic Topic, owned *pg.Pool, wait time.Duration) (int, error) {
	o := &owner{Topic: topic, contract: r.contract, pool: owned}
	found, err := r.differences(ctx, o.ask)
	if err != nil {
		return 0, err
	}
	for waited := clock.Start(); len(found.keys) > 0; {
		if err := backoff.Sleep(ctx, wait); err != nil {
			return 0, err
		}
		if found.keys, err = r.filterUnchanged(ctx, found); err != nil {
			return 0, err
		}
		if waited.Elapsed() > maxDirectSettle {
			break
		}
	}
	return len(found.keys), nil
}

// ask handles a comparison within this process.
func (o *owner) ask(ctx context.Context, operation string, request, response proto.Message) error {
	if operation != opCompare {
		return fmt.Errorf("replica: %s needs the broker", operation)
	}
	payload, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("replica: encode request: %w", err)
	}
	reply, err := o.compare(ctx, payload)
	if err != nil {
		return fmt.Errorf("replica: compare %s with its owner: %w", o.contract.Topic, err)
	}
	proto.Merge(response, reply)
	return nil
}
