package io.github.holdfast.sample.wms.order;

import jakarta.validation.Valid;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Submitted orders over HTTP.
 */
@RestController
@RequestMapping("/orders/submissions")
class SubmissionController {

	private final SubmissionService submissions;

	SubmissionController(SubmissionService submissions) {
		this.submissions = submissions;
	}

	@PostMapping
	Submission submit(@Valid @RequestBody NewSubmission submission) {
		return this.submissions.submit(submission);
	}

}
