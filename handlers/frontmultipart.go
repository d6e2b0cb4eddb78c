package handlers

import (
	"bytes"
	"regexp"
	"strings"
)

// Readers of multipart/form-data differ in nearly everything that is not what
// browsers send: text around the parts, ends of lines, folded and repeated
// headers, names without quotes or with escapes in them. So exactly that form
// is read (RFC 7578), and all else is refused.

// maxParts bounds the parts of a form.
const maxParts = 1000

var (
	// boundaryChars are those of RFC 2046, section 5.1.1, that no reader takes
	// for the end of a parameter.
	boundaryChars = regexp.MustCompile(`^[0-9A-Za-z'_.+-]{1,70}$`)

	disposition = regexp.MustCompile(`^(?i:form-data); *name="([^"\\]*)"(; *filename="[^"\\]*")?$`)

	strangeForm = malformed("The form is not written as browsers write multipart/form-data.")
)

// multipartPairs reads the fields of a form. Files are pairs without a value.
func multipartPairs(body []byte, boundary string) (list []pair, files []string, err error) {
	if !boundaryChars.MatchString(boundary) {
		return nil, nil, malformed("The boundary of the form has characters that not all applications read alike.")
	}
	line := []byte("--" + boundary)
	rest, found := bytes.CutPrefix(body, line)
	if !found {
		return nil, nil, strangeForm
	}
	delimiters := 1
	for {
		if end, found := bytes.CutPrefix(rest, []byte("--")); found {
			if len(end) > 0 && string(end) != "\r\n" {
				return nil, nil, strangeForm
			}
			break
		}
		part, found := bytes.CutPrefix(rest, []byte("\r\n"))
		if !found || delimiters > maxParts {
			return nil, nil, strangeForm
		}
		head, after, found := bytes.Cut(part, []byte("\r\n\r\n"))
		if !found {
			return nil, nil, strangeForm
		}
		name, file, err := partHeader(string(head))
		if err != nil {
			return nil, nil, err
		}
		var value []byte
		if value, rest, found = bytes.Cut(after, append([]byte("\r\n"), line...)); !found {
			return nil, nil, strangeForm
		}
		delimiters++
		if file {
			files = append(files, name)
		} else {
			list = append(list, pair{name, string(value)})
		}
	}
	// One inside of a part would be the end of it to a more lenient reader.
	if bytes.Count(body, line) != delimiters {
		return nil, nil, strangeForm
	}
	return list, files, nil
}

// partHeader reads the header of a part: what it is called, and whether it is
// a file.
func partHeader(head string) (name string, file bool, err error) {
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(head, "\r\n") {
		key, value, found := strings.Cut(line, ":")
		key, value = strings.ToLower(key), strings.Trim(value, " ")
		if !found || seen[key] || strings.ContainsAny(value, "\r\n\x00") {
			return "", false, strangeForm
		}
		seen[key] = true
		switch key {
		case "content-disposition":
			m := disposition.FindStringSubmatch(value)
			if m == nil {
				return "", false, strangeForm
			}
			name, file = m[1], m[2] != ""
		case "content-type":
			t := strings.ToLower(value)
			if strings.Contains(t, "charset") && !strings.Contains(strings.ReplaceAll(t, `"`, ""), "charset=utf-8") {
				return "", false, malformed("The form has a part that is not UTF-8.")
			}
		case "content-transfer-encoding":
			if t := strings.ToLower(value); t != "8bit" && t != "7bit" && t != "binary" {
				return "", false, malformed("The form has a part that is encoded.")
			}
		default:
			return "", false, strangeForm
		}
	}
	if !seen["content-disposition"] {
		return "", false, strangeForm
	}
	return name, file, nil
}
