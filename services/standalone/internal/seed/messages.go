package seed

import (
	"context"
	"net/http"
	"time"
)

const messaging = "/v1/platform/messaging/"

// sendMessages tells the employees with log-ins that their roster is published. The messages wait until a server for
// e-mail is configured.
func sendMessages(ctx context.Context, c *Client, now time.Time) error {
	var log struct{ Deliveries []object }
	if err := c.call(ctx, http.MethodPost, messaging+"deliveries/multi_read", object{"count": 1}, &log); err != nil || len(log.Deliveries) > 0 {
		return err
	}
	var numbers []string
	for i := range employeesWithLogin {
		numbers = append(numbers, personNumber(i))
	}
	month := now.AddDate(0, 1, 1-now.Day()).Format("January 2006")
	return c.call(ctx, http.MethodPost, messaging+"generic_notifications/notify", object{
		"domain": "Demo", "event": "Published", "recipientPersonNums": numbers, "eventData": object{"period": month},
	}, nil)
}
