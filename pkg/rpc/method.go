package rpc

import (
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc/validation"
)

// healthService is the one service without a contract of ours.
const healthService = "/grpc.health.v1.Health/"

// A method is what the chain knows of one operation; looked up once a call.
type method struct {
	name   string
	policy *policy.Method
	// broken says why there is no policy; such a method is never called.
	broken error
	// health says that it asks for the health of the service.
	health bool
	// rules says that the request type carries validation rules.
	rules   bool
	seconds prometheus.Observer
	codes   [codes.Unauthenticated + 1]atomic.Pointer[prometheus.Counter]
}

func (ch *Chain) method(name string) *method {
	if m, ok := ch.methods.Load(name); ok {
		return m.(*method)
	}
	m := &method{name: name, health: strings.HasPrefix(name, healthService)}
	m.policy, m.broken = ch.policies.Method(name)
	if m.health {
		m.policy, m.broken = &policy.Method{Name: name, Public: true}, nil
	} else if m.broken == nil {
		m.rules = validation.HasRules(m.policy.Input)
	}
	m.seconds = ch.metrics.seconds.WithLabelValues(name)
	// gRPC hands on names of registered methods only, so this cannot grow.
	kept, _ := ch.methods.LoadOrStore(name, m)
	return kept.(*method)
}

// known returns what is known of a method that is registered; nil for all others,
// whose names may be anything.
func (ch *Chain) known(name string) *method {
	if m, ok := ch.methods.Load(name); ok {
		return m.(*method)
	}
	return nil
}
