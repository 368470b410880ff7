// Package encoding writes a window as the bytes of a Schedule message: the selected lists, in the
// requested order. The bytes travel as unknown fields of the typed message, and every gRPC client
// decodes them as usual.
package encoding
