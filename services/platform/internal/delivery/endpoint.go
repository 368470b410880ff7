package delivery

import "time"

const (
	// slowAfter is the duration after which a failed attempt makes its webhook pause.
	slowAfter = 2 * time.Second
	// firstPause is the pause of a webhook after one such failure. It doubles with each further one, up to the
	// pause after a delivery's first attempt.
	firstPause = time.Second
)

// endpoint is a webhook of a tenant, or the mail server if webhook is 0.
type endpoint struct{ tenant, webhook int64 }

// load is the current use of an endpoint by a process.
type load struct {
	running int
	// slow counts the consecutive failures that were slow or could not connect, and until is the end of the
	// endpoint's pause.
	slow  int
	until time.Time
}

// shares bound the concurrent attempts of a process.
type shares struct {
	// tenant is the share of a tenant. mail and webhooks are the shares of the channels within it, so that
	// neither channel uses all slots.
	tenant, mail, webhooks int
	// webhook is the share of one webhook.
	webhook int
}

func computeShares(concurrency int) shares {
	tenant := max(concurrency/2, 1)
	return shares{
		tenant: tenant, mail: tenant - tenant/4, webhooks: max(tenant-max(tenant/4, 1), 1), webhook: max(tenant/4, 1),
	}
}

// room contains the numbers of attempts that may begin, as columns for the query. It omits idle tenants and
// endpoints.
type room struct {
	total                         int
	tenants                       []int64
	free, freeMail, freeWebhooks  []int32
	endpointTenants, endpointHook []int64
	endpointFree                  []int32
}

// room returns the numbers of attempts that may begin now.
func (s *Sender) room(now time.Time) room {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := room{total: s.cfg.Concurrency - s.total}
	hooks := map[int64]int{}
	for at, l := range s.endpoints {
		if at.webhook == 0 {
			continue
		}
		hooks[at.tenant] += l.running
		free := s.shares.webhook - l.running
		switch {
		case now.Before(l.until):
			free = 0
		case l.slow > 0:
			free = 1 - l.running // One attempt tests whether it works again.
		}
		r.endpointTenants, r.endpointHook = append(r.endpointTenants, at.tenant), append(r.endpointHook, at.webhook)
		r.endpointFree = append(r.endpointFree, int32(max(free, 0)))
	}
	for tenantID, n := range s.running {
		mails := n - hooks[tenantID]
		r.tenants = append(r.tenants, tenantID)
		r.free = append(r.free, int32(max(s.shares.tenant-n, 0)))
		r.freeMail = append(r.freeMail, int32(max(s.shares.mail-mails, 0)))
		r.freeWebhooks = append(r.freeWebhooks, int32(max(s.shares.webhooks-hooks[tenantID], 0)))
	}
	return r
}

// note counts an attempt that begins (1) or ends (-1).
func (s *Sender) note(d *Delivery, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += by
	if s.running[d.Tenant] += by; s.running[d.Tenant] == 0 {
		delete(s.running, d.Tenant)
	}
	at := endpoint{d.Tenant, d.WebhookID}
	l := s.endpoints[at]
	l.running += by
	s.keep(at, l)
}

// judge pauses a webhook after an attempt that failed slowly, because such attempts block the slots of others,
// or that could not connect.
func (s *Sender) judge(d *Delivery, o outcome) {
	if d.WebhookID == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := endpoint{d.Tenant, d.WebhookID}
	l := s.endpoints[at]
	if o.state == Delivered || o.ended.Sub(o.started) < slowAfter && o.conceal == 0 {
		l.slow, l.until = 0, time.Time{}
	} else {
		l.until = o.ended.Add(min(firstPause<<min(l.slow, 20), s.cfg.RetryFirst))
		l.slow++
	}
	s.keep(at, l)
}

// keep stores the state of an endpoint, and removes idle ones. The caller holds the mutex.
func (s *Sender) keep(at endpoint, l load) {
	if l == (load{}) {
		delete(s.endpoints, at)
	} else {
		s.endpoints[at] = l
	}
}
